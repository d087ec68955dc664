/** The series of executions that a health describes: a test in one pipeline and CI job. */
export interface Identity {
  testId: string;
  pipelineName: string;
  jobName: string;
}

/** Names a pipeline and CI job within a repository. No name has a NUL. */
export const jobKey = ({ pipelineName, jobName }: Pick<Identity, 'pipelineName' | 'jobName'>): string =>
  `${pipelineName}\0${jobName}`;

/** Names an identity within its repository. */
export const identityKey = (identity: Identity): string => `${identity.testId}\0${jobKey(identity)}`;

/** The identity that {@link identityKey} names. */
export function identityIn(key: string): Identity {
  const [testId = '', pipelineName = '', jobName = ''] = key.split('\0');
  return { testId, pipelineName, jobName };
}

export const testIdIn = (key: string): string => key.slice(0, key.indexOf('\0'));

/** Only what names it. */
export const identityOf = ({ testId, pipelineName, jobName }: Identity): Identity => ({
  testId,
  pipelineName,
  jobName,
});
