/** Secrets that are mounted as files, so that they stand in no environment. */
import { readFileSync } from 'node:fs';
import { UserError } from './errors.ts';

/**
 * Without white space around it. Throws a {@link UserError}, which never holds the content.
 *
 * @param variable that names the file, for messages
 */
export function readSecretFile(variable: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new UserError(`${variable} names ${file}, which cannot be read.`, { cause });
  }
  if (text === '') throw new UserError(`${variable} names ${file}, which is empty.`);
  return text;
}

/** The settings that hold a secret. Each may stand in a file, which the variable with `_FILE` after its name names. */
export const SECRET_SETTINGS = [
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'REDIS_URL',
  'CLICKHOUSE_URL',
  'HOST_TOKENS',
  'HOST_WEBHOOK_SECRETS',
  'OIDC_CLIENT_SECRET',
  'S3_SECRET_ACCESS_KEY',
  'OTEL_EXPORTER_OTLP_HEADERS',
] as const;

/**
 * The settings with the contents of their files. Lines of a file are like parts with commas between.
 *
 * Throws a {@link UserError} if a file cannot be read, or if a setting is there twice.
 */
export function withSecretFiles(settings: Readonly<Record<string, string>>): Record<string, string> {
  const read: Record<string, string> = {};
  for (const name of SECRET_SETTINGS) {
    const file = settings[`${name}_FILE`];
    if (file === undefined) continue;
    if (settings[name] !== undefined) throw new UserError(`Set ${name} or ${name}_FILE, not both.`);
    const lines = readSecretFile(`${name}_FILE`, file).split('\n');
    read[name] = lines.map((line) => line.trim()).join(',');
  }
  return { ...settings, ...read };
}
