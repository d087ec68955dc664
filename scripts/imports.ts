/**
 * Who may import whom. `ALLOWED` is the whole rule: a room is a folder of `src`, `workers`, `web`, packages of `packages`,
 * or one of the files at the root of `src`, and imports only the rooms listed beside it. `npm run depcheck` prints every
 * import that breaks the rule; `tests/unit/imports.test.ts` checks the tree and every pair of rooms.
 */
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { Glob } from 'bun';

/** From the bottom of the house to the top. Everyone may import `base`, which is not repeated here. */
export const ALLOWED = {
  /** Small tools without a subject: clock, errors. */
  base: [],
  /** Pure rules: no I/O, no clock. */
  domain: [],
  /** Test reports: pure, shared by the gateway and the client. */
  formats: ['domain'],
  /** Runs in CI jobs, on Node as well as on Bun: no store, no server. */
  client: ['domain', 'formats', 'hosts'],
  /** The plugins of test runners. */
  reporters: ['client', 'formats'],
  observability: [],
  postgres: ['domain', 'observability'],
  queue: ['domain', 'observability', 'postgres'],
  clickhouse: ['observability'],
  /** Repository hosts: their deliveries, their REST APIs, the addresses of their pages. */
  hosts: ['domain', 'queue'],
  /** The package for programs that put jobs into the queue. */
  producer: ['queue'],
  config: ['domain', 'hosts', 'queue'],
  ledger: ['domain', 'observability', 'postgres', 'queue', 'clickhouse'],
  /** Records of commits: what ClickHouse has of a commit, as one value. */
  commits: ['postgres', 'clickhouse'],
  evaluation: ['domain', 'observability', 'postgres', 'clickhouse', 'ledger', 'commits'],
  /** Explanations and backtests: they only read. */
  explain: ['domain', 'postgres', 'clickhouse', 'evaluation'],
  maintenance: ['domain', 'observability', 'postgres', 'clickhouse', 'ledger', 'commits', 'evaluation'],
  deps: ['config', 'observability', 'postgres', 'queue', 'clickhouse', 'ledger', 'maintenance'],
  /** Moves everything that is stored: copies, dumps. */
  transfer: ['clickhouse', 'deps', 'domain', 'postgres', 'queue'],
  parts: ['clickhouse', 'config', 'deps', 'observability'],
  workers: [
    'domain',
    'hosts',
    'observability',
    'postgres',
    'queue',
    'clickhouse',
    'ledger',
    'evaluation',
    'explain',
    'maintenance',
    'deps',
    'parts',
    'comments',
  ],
  http: ['domain', 'observability'],
  access: ['domain', 'hosts', 'http', 'observability', 'postgres'],
  ingest: ['domain', 'formats', 'hosts', 'http', 'ledger', 'observability', 'queue'],
  insights: ['domain', 'formats', 'hosts', 'http', 'clickhouse', 'postgres', 'commits', 'explain'],
  /** The comments and checks that the service itself keeps at hosts. */
  comments: ['config', 'domain', 'hosts', 'insights', 'observability', 'postgres'],
  events: ['domain', 'http', 'clickhouse', 'postgres'],
  quarantines: ['domain', 'http', 'postgres'],
  /** Imports of history that the page starts. */
  imports: ['client', 'domain', 'http', 'observability', 'postgres'],
  /** Saved views. */
  views: ['domain', 'http', 'postgres'],
  openapi: ['domain', 'http'],
  /** Delivers the client as a file: it bundles it, and imports nothing of it. */
  download: ['http'],
  web: ['http'],
  /** Tools for agents: they ask the API as its clients do. */
  mcp: ['domain', 'http'],
  app: ['http', 'observability'],
  operate: ['domain', 'access', 'app', 'clickhouse', 'config', 'deps', 'http', 'observability', 'postgres', 'queue'],
  features: [
    'access',
    'deps',
    'download',
    'events',
    'http',
    'imports',
    'ingest',
    'insights',
    'mcp',
    'openapi',
    'operate',
    'quarantines',
    'queue',
    'views',
    'web',
  ],
  api: ['access', 'app', 'deps', 'features', 'imports', 'ingest', 'observability', 'operate', 'parts'],
  main: ['access', 'api', 'config', 'deps', 'observability', 'operate', 'parts', 'workers'],
  /** The web application. It imports types of the service, and nothing of it that runs: see {@link TYPES_ONLY}. */
  browser: [
    'access',
    'domain',
    'explain',
    'events',
    'imports',
    'ingest',
    'insights',
    'operate',
    'quarantines',
    'views',
    'web',
  ],
  cli: [
    'access',
    'client',
    'config',
    'deps',
    'domain',
    'explain',
    'main',
    'maintenance',
    'observability',
    'operate',
    'postgres',
    'queue',
    'transfer',
    'workers',
  ],
} as const satisfies Record<string, readonly string[]>;

/**
 * Rooms that import types only of every other. A page must not depend on code of the service, which would come into its
 * bundle with all that it imports.
 */
const TYPES_ONLY: readonly Room[] = ['browser'];

export type Room = keyof typeof ALLOWED;
export const ROOMS = Object.keys(ALLOWED) as Room[];

const ROOM_OF_FILE: Record<string, Room> = {
  'src/app.ts': 'app',
  'src/ci-token-config.ts': 'config',
  'src/cli.ts': 'cli',
  'src/config.ts': 'config',
  'src/deps.ts': 'deps',
  'src/features.ts': 'features',
  'src/hosts-config.ts': 'config',
  'src/comments-config.ts': 'config',
  'src/main.ts': 'main',
  'src/oidc-config.ts': 'config',
  'src/service-lock.ts': 'deps',
};

/** The room of a file given by its path from the root of the repository; undefined outside of every room. */
export function roomOf(file: string): Room | undefined {
  const [top, folder = ''] = file.split('/');
  if (top === 'workers') return 'workers';
  if (top === 'web') return 'browser';
  if (top === 'packages') return folder === 'producer' ? 'producer' : 'reporters';
  if (top !== 'src') return undefined;
  if (/\.(?:ts|md)$/.test(folder)) return ROOM_OF_FILE[file] ?? 'base';
  return ROOMS.find((room) => room === folder);
}

export const isAllowed = (from: Room, to: Room): boolean =>
  from === to || to === 'base' || (ALLOWED[from] as readonly string[]).includes(to);

export interface Import {
  from: string;
  to: string;
  /** The whole statement is `import type` or `export type`: it is gone when the code runs. */
  isType: boolean;
}

/** Statements that name a module, `import('…')` and `import '…'`. */
const IMPORTS =
  /^(?:import|export)( type)? [^'";]*?\bfrom '(\.{1,2}\/[^']+)'|(?:\bimport\(|\bimport )'(\.{1,2}\/[^']+)'/gm;

/** Every relative import of the files, static, dynamic or of a type. */
export const importsOf = (file: string, text: string): Import[] =>
  [...text.matchAll(IMPORTS)].map(([, type, named, bare]) => ({
    from: file,
    to: join(dirname(file), named ?? bare ?? ''),
    isType: type !== undefined,
  }));

/** The sentence for an import that breaks the rule; undefined for one that keeps it. */
export function refusalOf({ from, to, isType }: Import): string | undefined {
  const [fromRoom, toRoom] = [roomOf(from), roomOf(to)];
  if (fromRoom === undefined) return `${from} is in no room: add its folder to ALLOWED`;
  if (to === 'package.json') return undefined;
  if (toRoom === undefined) return `${from} imports ${to}, which is in no room`;
  if (!isAllowed(fromRoom, toRoom)) return `${from} imports ${to}: ${fromRoom} may not import ${toRoom}`;
  if (TYPES_ONLY.includes(fromRoom) && fromRoom !== toRoom && !isType)
    return `${from} imports ${to}: ${fromRoom} may only \`import type\` from ${toRoom}`;
  return undefined;
}

/** Every import of the tree. */
export function importsOfTree(root: string): Import[] {
  const files = [...new Glob('{src,workers,web,packages}/**/*.{ts,tsx}').scanSync({ cwd: root })].sort();
  return files.flatMap((file) => importsOf(file, readFileSync(join(root, file), 'utf8')));
}

/** The rule as the table of docs/architecture.md. */
export function importTable(): string {
  const rows = ROOMS.map((room) => `| ${room} | ${ALLOWED[room].join(', ') || '–'} |`);
  return ['| room | may import (besides itself and `base`) |', '|---|---|', ...rows].join('\n');
}

if (import.meta.main) {
  if (process.argv.includes('--table')) console.log(importTable());
  else {
    const root = resolve(import.meta.dir, '..');
    const refusals = importsOfTree(root).flatMap((found) => refusalOf(found) ?? []);
    for (const refusal of refusals) console.error(refusal);
    console.log(`${relative('.', root) || '.'}: ${refusals.length} imports against the rule`);
    process.exit(refusals.length > 0 ? 1 : 0);
  }
}
