/** The files of the web application as `web/build.ts` prepared them: read at start, served from memory. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const manifestSchema = z.object({
  /** Hash of the sources that it was made from: set-up builds again when it differs. */
  sources: z.string(),
  script: z.string(),
  /** Scripts that the first one imports before it runs. */
  preload: z.array(z.string()),
  style: z.string(),
  icon: z.string(),
});
export type Manifest = z.infer<typeof manifestSchema>;

const FOLDER = fileURLToPath(new URL('../../web/dist', import.meta.url));
const MEDIA_TYPES: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};
/** The better first. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

export interface WebFiles {
  manifest: Manifest;
  /** The answer for a file by its name; undefined if there is none. */
  answer(name: string, acceptEncoding: string): Response | undefined;
}

/** Undefined if nothing is built. */
export function readWebFiles(folder = FOLDER): WebFiles | undefined {
  const bytes = new Map<string, Blob>();
  try {
    const manifest = manifestSchema.parse(JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')));
    for (const file of readdirSync(folder)) bytes.set(file, new Blob([readFileSync(join(folder, file))]));
    return { manifest, answer: (name, acceptEncoding) => answerOf(bytes, name, acceptEncoding) };
  } catch {
    return undefined;
  }
}

function answerOf(bytes: ReadonlyMap<string, Blob>, name: string, acceptEncoding: string): Response | undefined {
  const type = MEDIA_TYPES[extname(name)];
  const whole = bytes.get(name);
  if (type === undefined || !whole) return undefined;
  const accepted = new Set(acceptEncoding.split(',').map((one) => one.split(';')[0]?.trim()));
  const encoding = ENCODINGS.find(([token]) => accepted.has(token));
  const packed = encoding && bytes.get(`${name}${encoding[1]}`);
  return new Response(packed ?? whole, {
    headers: {
      'content-type': type,
      // The name changes with the contents.
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'accept-encoding',
      ...(packed && encoding && { 'content-encoding': encoding[0] }),
    },
  });
}
