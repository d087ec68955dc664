/** Puts the client for CI jobs into one file that Node and Bun run without installing anything. */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
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
  const { outputs } = await Bun.build({ entrypoints: [ENTRY], target: 'node', format: 'esm', minify: true });
  const [output] = outputs;
  if (!output || outputs.length !== 1) throw new Error(`the client became ${outputs.length} files`);
  const text = await output.text();
  return { version, bytes: new Blob([text]), sha256: createHash('sha256').update(text).digest('hex') };
}
