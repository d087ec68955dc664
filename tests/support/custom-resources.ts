/**
 * Checks custom resources against the models that are generated from the operators' own types: the compiler finds a field that
 * there is not, their validators a value that may not be.
 */
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { packagesFolder } from '../clients/support/packages.ts';
import { machine, run } from '../clients/support/run.ts';

const COMPILER = resolve(import.meta.dir, '../../node_modules/.bin/tsc');
const OPTIONS = '--noEmit --strict --skipLibCheck --target esnext --module esnext --moduleResolution bundler'.split(
  ' ',
);

/** The package with the models of a group, and its version. */
const MODELS: Readonly<Record<string, readonly [name: string, version: string]>> = {
  'keda.sh': ['@kubernetes-models/keda', '2.0.0'],
  'monitoring.coreos.com': ['@kubernetes-models/prometheus-operator', '6.0.0'],
  'gateway.networking.k8s.io': ['@kubernetes-models/gateway-api', '2.0.0'],
};

interface Resource {
  apiVersion: string;
  kind: string;
}

const modelsOf = ({ apiVersion }: Resource) => MODELS[apiVersion.split('/')[0] ?? ''];

/** Whether an operator defines it, so that the schemas of Kubernetes do not have it. */
export const isCustom = (resource: Resource): boolean => modelsOf(resource) !== undefined;

export interface CustomResources {
  /** Says what is wrong with resources for which {@link isCustom} is true; empty if nothing is. */
  problems(resources: readonly Resource[]): Promise<string>;
}

/** Undefined if the models cannot be installed here; the reason is printed. In CI it throws. */
export async function customResources(): Promise<CustomResources | undefined> {
  const folder = await packagesFolder(Object.fromEntries(Object.values(MODELS)));
  if (folder === undefined) return undefined;
  const problems = async (resources: readonly Resource[]): Promise<string> => {
    writeFileSync(join(folder, 'check.ts'), resources.map(checkOf).join('\n'));
    for (const command of [
      [COMPILER, ...OPTIONS, 'check.ts'],
      [process.execPath, 'check.ts'],
    ]) {
      const { code, printed } = await run(command, { cwd: folder, env: machine() });
      if (code !== 0) return printed || `${command[0]} ended with ${code}`;
    }
    return '';
  };
  return { problems };
}

/** A literal of the model's type, because only in a literal the compiler refuses a field that its type lacks. */
function checkOf(resource: Resource, nth: number): string {
  const { apiVersion, kind } = resource;
  return `import * as model${nth} from '${modelsOf(resource)?.[0]}/${apiVersion}/${kind}';
const resource${nth}: model${nth}.I${kind} = ${JSON.stringify(resource)};
new model${nth}.${kind}(resource${nth}).validate();`;
}
