/** The leg of a CI job: the job as it runs on one combination of axes. */
export interface Leg {
  pipelineName: string;
  jobName: string;
  /** `axesText` (axes.ts); empty without axes. */
  axes: string;
}

/** The series of executions that a health describes: a test in one leg. */
export interface Identity extends Leg {
  testId: string;
}

/** In place of the axes: all legs of the CI job together. No `axesText` is like it. */
export const ALL_LEGS = '*';

/** Names a leg within a repository. No part has a NUL. */
export const legKey = ({ pipelineName, jobName, axes }: Leg): string => `${pipelineName}\0${jobName}\0${axes}`;

/** Names a pipeline and CI job, with all their legs. */
export const jobKey = ({ pipelineName, jobName }: Omit<Leg, 'axes'>): string => `${pipelineName}\0${jobName}`;

/** Names an identity within its repository. */
export const identityKey = (identity: Identity): string => `${identity.testId}\0${legKey(identity)}`;

/** The identity that {@link identityKey} names. */
export function identityIn(key: string): Identity {
  const [testId = '', pipelineName = '', jobName = '', axes = ''] = key.split('\0');
  return { testId, pipelineName, jobName, axes };
}

export const testIdIn = (key: string): string => key.slice(0, key.indexOf('\0'));

/** Only what names the leg. */
export const legOf = ({ pipelineName, jobName, axes }: Leg): Leg => ({ pipelineName, jobName, axes });

/** Only what names it. */
export const identityOf = ({ testId, pipelineName, jobName, axes }: Identity): Identity => ({
  testId,
  pipelineName,
  jobName,
  axes,
});
