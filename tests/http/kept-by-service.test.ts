/** The failures of a commit say what the service keeps at the host itself, so that `gate` leaves it alone. */
import { beforeAll, expect, test } from 'bun:test';
import type { CommentsConfig } from '../../src/comments-config.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestApp } from '../support/http.ts';
import { setUpIngest } from '../support/ingest.ts';
import { makeJob } from '../support/jobs.ts';
import { uniqueRepository } from '../support/stores.ts';

const at = setUpIngest();
const repository = uniqueRepository();
beforeAll(() =>
  at.driver.ingest(
    makeJob({ repository, executions: [{ name: 'adds' }], run: { commit: 'c1' }, receivedAt: TEST_NOW }),
  ),
);

test.each([
  [undefined, []],
  [{ comments: ['*'], checks: [] }, ['comment']],
  [{ comments: ['other'], checks: [repository.owner] }, ['check']],
  [{ comments: ['*'], checks: [`${repository.owner}/${repository.name}`] }, ['comment', 'check']],
])('with %j it is %j', async (lists, kept) => {
  const commentsConfig: CommentsConfig | undefined = lists && {
    ...lists,
    hosts: [],
    publicUrl: 'https://ci.acme.example',
  };
  const app = await openTestApp({ commentsConfig });
  const path = `/v1/ci/${repository.owner}/repositories/${repository.name}/commits/c1/failures`;
  expect(await app.get(path)).toMatchObject({ runs: 1, kept_by_service: kept });
  expect(await app.get(path.replace('/c1/', '/unknown/'))).toMatchObject({ runs: 0, kept_by_service: kept });
});
