import { describe, expect, test } from 'bun:test';
import { valuesOf } from '../../src/ledger/block.ts';
import { makeJob } from '../support/jobs.ts';
import { prepareChunk } from '../support/prepare.ts';

const PREPARE = { repositoryId: crypto.randomUUID(), defaultBranch: 'main', now: 0, retentionDays: 90 };

/** The address that a job of any producer leaves in the stores. */
function storedAddressOf(job_url: string | null): unknown {
  const job = makeJob({
    repository: { owner: 'acme', name: 'shop' },
    receivedAt: 0,
    executions: [{ name: 'a' }],
    run: { job_url },
  });
  const chunk = prepareChunk(job, PREPARE);
  return (valuesOf(chunk, chunk.executions) as { job_url: unknown }).job_url;
}

describe('the address of a CI job, whichever producer sent it,', () => {
  test.each(['https://ci.example.com/runs/1?attempt=2#log', 'http://ci/1', 'HTTPS://CI/1', 'https://ci/é'])(
    'is kept where a page may link to it: %s',
    (address) => expect(storedAddressOf(address)).toBe(address),
  );
  test.each([
    ['a script', 'javascript:alert(1)'],
    ['a script behind a line break', 'java\nscript:alert(1)'],
    ['data', 'data:text/html,<script>alert(1)</script>'],
    ['a file', 'file:///etc/passwd'],
    ['no address', 'build 12'],
    ['no host', 'https://'],
    ['white space', 'https://ci/a b'],
    ['a NUL character', 'https://ci/\0'],
    ['half of a surrogate pair', 'https://ci/\ud800'],
    ['more than 2,048 bytes', `https://ci/${'é'.repeat(1_100)}`],
    ['nothing', ''],
    ['null', null],
  ])('is dropped, not cut, if it is or contains %s', (_, address) => expect(storedAddressOf(address)).toBe(''));
});
