/** The job kinds of the service. Whatever concerns every queue iterates this list. */
import { importedTestRuns } from './imported-test-runs.ts';
import type { JobKind } from './job-kind.ts';
import { largeTestRuns } from './large-test-runs.ts';
import { prEvents } from './pr-events.ts';
import { testRuns } from './test-runs.ts';
import { uploadBundles } from './upload-bundles.ts';

/** Kinds whose jobs hold executions. */
export const executionKinds = [
  testRuns,
  largeTestRuns,
  importedTestRuns,
  uploadBundles,
] as const satisfies readonly JobKind[];

export const jobKinds = [...executionKinds, prEvents] as const satisfies readonly JobKind[];

/** Kinds whose jobs others may make. */
export const publicJobKinds = jobKinds.filter(({ isInternal }) => !isInternal);

export type JobName = (typeof jobKinds)[number]['name'];
