/** Puts the client for CI jobs into one file that Node and Bun run without installing anything. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { BunPlugin } from 'bun';
import { version } from '../../package.json' with { type: 'json' };

export interface ClientFile {
  version: string;
  bytes: Blob;
  /** In hexadecimal. */
  sha256: string;
}

const ENTRY = fileURLToPath(new URL('../client/main.ts', import.meta.url));

/** Takes about 50 ms, in threads of the bundler. The same sources give the same bytes in every process. */
export async function bundleClient(): Promise<ClientFile> {
  const text = await bundleProgram(ENTRY);
  return { version, bytes: new Blob([text]), sha256: createHash('sha256').update(text).digest('hex') };
}

/**
 * `@bun` tells Bun that nothing has to be transpiled, which takes 40 ms. The bundle is CommonJS in an ES module: what is
 * imported dynamically is loaded when it is reached, and so are the modules of Node that only that part imports. Those of
 * a bundle of ES modules are all loaded at the start.
 */
const BANNER = `// @bun
import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

/**
 * The agent for proxies can sign in with Kerberos, with a package that it loads only for that. The client never asks for it,
 * and a job's own folder must not be where a part of this file is found.
 */
export const WITHOUT_KERBEROS: BunPlugin = {
  name: 'without-kerberos',
  setup: (build) => {
    build.onResolve({ filter: /^kerberos$/ }, ({ path }) => ({ path, namespace: 'left-out' }));
    build.onLoad({ filter: /./, namespace: 'left-out' }, ({ path }) => ({
      contents: `throw new Error('${path} is left out of this file');`,
      loader: 'js',
    }));
  },
};

/** A program in one file that starts quickly. */
export async function bundleProgram(entry: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: 'node',
    format: 'cjs',
    minify: true,
    banner: BANNER,
    plugins: [WITHOUT_KERBEROS],
  });
  const [output] = outputs;
  if (!output || outputs.length !== 1) throw new Error(`${entry} became ${outputs.length} files`);
  return output.text();
}
