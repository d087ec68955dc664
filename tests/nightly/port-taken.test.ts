/** A start that cannot listen ends: with a sentence, with an exit code, and with nothing left behind. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { makeFolder } from '../support/folder.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { ServiceProcess } from '../support/service-process.ts';

let dataDir: string;
let other: Server;
let port: string;

beforeAll(async () => {
  dataDir = makeFolder('port');
  other = createServer();
  await new Promise<void>((listening) => other.listen(0, '127.0.0.1', listening));
  const address = other.address();
  port = String(typeof address === 'object' ? address?.port : '');
});
afterAll(() => {
  other.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test('a port that another program uses ends the start with a sentence, and no process or lock stays behind', async () => {
  for (const variable of ['PORT', 'METRICS_PORT']) {
    const service = ServiceProcess.onFolder(dataDir, { [variable]: port, LOG_LEVEL: 'debug' });
    const late = setTimeout(() => void service.kill(), PATIENCE_MS);
    await expect(service.start()).rejects.toThrow('ended with 1 before it was ready');
    clearTimeout(late);
    expect(JSON.parse(service.written.trim().split('\n').at(-1) ?? '').msg).toBe(
      `Cannot listen on 127.0.0.1:${port}: another program uses this port. Stop it, or set another ${variable}.`,
    );
    // PostgreSQL removes its file when it has stopped.
    for (const file of ['postgres/postmaster.pid', 'service.lock'])
      expect([variable, file, existsSync(join(dataDir, file))]).toEqual([variable, file, false]);
  }
});
