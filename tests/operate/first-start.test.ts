/** The link that signs in who starts the service for the first time, at a terminal as a person has one. */
import { afterAll, expect, test } from 'bun:test';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../support/folder.ts';
import { until } from '../support/patience.ts';
import { CLI, runCommand, ServiceProcess } from '../support/service-process.ts';
import { beginWithTemplate } from '../support/template.ts';

const folder = makeFolder('first-start');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const dataDirOf = (name: string): string => {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { recursive: true, mode: 0o711 });
  beginWithTemplate(dataDir);
  return dataDir;
};

/** Starts it at a terminal, hands over what it wrote there until it was ready, and stops it. */
async function atTerminal(
  dataDir: string,
  environment: Record<string, string>,
  whileRunning: (written: string, origin: string) => Promise<void>,
): Promise<void> {
  const { PATH = '', HOME = '' } = process.env;
  let written = '';
  const child = Bun.spawn([process.execPath, CLI, 'serve'], {
    env: { PATH, HOME, DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'info', ...environment },
    terminal: {
      cols: 200,
      rows: 50,
      data: (_, data) => {
        written += Buffer.from(data).toString();
      },
    },
  });
  try {
    // The line has no end yet if the link is still to come.
    await until(
      () => written,
      (text) => /ready at [^\n]*\n/.test(text),
    );
    await whileRunning(written, /ready at (http:\/\/[^\s/]+)/.exec(written)?.[1] ?? '');
  } finally {
    child.kill('SIGTERM');
    await child.exited;
    child.terminal?.close();
  }
}

const linkIn = (written: string): string | undefined => /http:\/\/\S+\/app\/sign-in#(cip_\S+)/.exec(written)?.[1];
const signIn = (origin: string, key: string) =>
  fetch(`${origin}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ key }),
  });

test('the first start at a terminal prints a link that signs an operator in once; a later start prints none', async () => {
  const dataDir = dataDirOf('empty');
  let key = '';
  await atTerminal(dataDir, {}, async (written, origin) => {
    key = readFileSync(join(dataDir, 'admin.key'), 'utf8').trim();
    expect(written).not.toContain(key);
    const pass = linkIn(written) ?? '';
    const session = await signIn(origin, pass);
    expect([session.status, await session.json()]).toEqual([201, expect.objectContaining({ is_operator: true })]);
    expect((await signIn(origin, pass)).status).toBe(403);
  });
  await atTerminal(dataDir, {}, async (written, origin) => {
    expect(linkIn(written)).toBeUndefined();
    const made = runCommand(dataDir, 'sessions', 'link');
    expect(made.out).toStartWith(`${origin}/app/sign-in#cip_`);
    expect((await signIn(origin, linkIn(made.out) ?? '')).status).toBe(201);
  });
});

test('no link is printed where no person reads along, or where people sign in with a provider', async () => {
  const piped = ServiceProcess.onFolder(dataDirOf('piped'), { LOG_LEVEL: 'info' });
  await piped.start();
  try {
    expect(piped.written).not.toContain('cip_');
  } finally {
    await piped.stop();
  }
  const provider = {
    OIDC_ISSUER: 'https://id.acme.example',
    OIDC_CLIENT_ID: 'ci-insights',
    OIDC_CLIENT_SECRET: 'a secret of the provider',
    OIDC_ACCESS: 'domain:acme.example view acme',
    PUBLIC_URL: 'http://127.0.0.1:3000',
  };
  await atTerminal(dataDirOf('provider'), provider, async (written) => expect(written).not.toContain('cip_'));
});
