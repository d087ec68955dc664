/** The job kinds of the service. Whatever concerns every queue iterates this list. */
import type { JobKind } from './job-kind.ts';
import { prEvents } from './pr-events.ts';
import { testRuns } from './test-runs.ts';

export const jobKinds = [testRuns, prEvents] as const satisfies readonly JobKind[];

export type JobName = (typeof jobKinds)[number]['name'];
