/** Everything that the API's port offers, with its operations as they are described. */
import { serviceFeatures } from '../../src/features.ts';
import type { MountedOperation } from '../../src/http/operation.ts';
import { ImportRunner, importsOf } from '../../src/imports/runner.ts';
import { startMonitoring } from '../../src/operate/monitoring.ts';
import { openTestApp, type TestApp } from './http.ts';
import { openTestStores } from './stores.ts';

export interface DescribedApp extends TestApp {
  operations: readonly MountedOperation[];
  stop(): Promise<void>;
}

export async function openDescribedApp(): Promise<DescribedApp> {
  const stores = await openTestStores();
  const monitoring = startMonitoring(stores);
  const imports = new ImportRunner({
    ...{ store: importsOf(stores), clock: stores.clock, log: stores.log },
    dataDir: stores.config.dataDir,
  });
  let operations: readonly MountedOperation[] = [];
  const app = await openTestApp({
    all: [
      ...serviceFeatures(stores, stores.probes, monitoring, { imports }),
      (_, http) => {
        operations = http.operations;
      },
    ],
  });
  return { ...app, operations, stop: () => monitoring.stop() };
}

const ID = '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a';
const VALUES: Record<string, string> = {
  owner: 'acme',
  repository: 'shop',
  repository_name: 'shop',
  test_id: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11',
  failure_id: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11',
  cause_id: '6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14',
  commit_sha: 'c0ffee',
  number: '7',
  id: 'WyJDSSIsIjEiLCIiXQ',
  stat: 'mean_duration',
  version: '1.0.0',
};

/** An address of the operation, with these values in its path, or others that are well-formed. */
export const addressOf = ({ path }: MountedOperation, values: Readonly<Record<string, string>> = {}): string =>
  path.replace(/:(\w+)/g, (_, name: string) => values[name] ?? VALUES[name] ?? ID);
