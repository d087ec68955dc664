/** Schemathesis asks the running service whatever its OpenAPI document allows. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { pythonEnvironment } from '../clients/support/python.ts';
import { machine, run } from '../clients/support/run.ts';
import { sharedService } from '../clients/support/service.ts';

/** For each operation and phase: a few hundred requests in all. */
const EXAMPLES = 3;
const CHECKS = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_schema_conformance',
  'response_headers_conformance',
];

const HOOKS = join(import.meta.dir, '../clients/support/schemathesis_hooks.py');

const schemathesis = await pythonEnvironment('schemathesis');

test.skipIf(!schemathesis)('it finds no server error and no answer that is not documented', async () => {
  const service = await sharedService();
  const seed = String(Date.now() % 1_000_000_007);
  const command = [
    join(schemathesis?.bin ?? '', 'schemathesis'),
    ...['run', `${service.origin}/docs/json`, '--header', `Authorization: Bearer ${service.token}`],
    // It would revoke the key that it asks with, which others use.
    ...['--exclude-operation-id', 'revokeKey'],
    ...['--checks', CHECKS.join(','), '--max-examples', String(EXAMPLES), '--seed', seed, '--no-color'],
  ];
  // It leaves files where it runs.
  const ran = await run(command, { cwd: schemathesis?.bin ?? '', env: { ...machine(), SCHEMATHESIS_HOOKS: HOOKS } });
  // The seed is in what it prints.
  expect(ran.code === 0 ? '' : ran.printed).toBe('');
  expect(ran.printed).toMatch(/Tested: \d{2}/);
});
