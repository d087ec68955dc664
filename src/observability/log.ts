/** Structured logs: one JSON object per line on standard error; standard output is for the answers of commands. */
import pino from 'pino';
import { withoutSecrets } from './secrets.ts';
import { standardError } from './standard-error.ts';

export type Logger = pino.Logger;

/** Fields that may contain a secret; their values are removed from every line. */
const SECRETS = ['authorization', '*.authorization', 'headers.authorization', 'token', '*.token', 'connectionString'];
const CAUSES_MAX = 5;

/**
 * @param secrets Exact values that no line may contain, such as the passwords of the stores; see `secretsOf` in
 *   config.ts.
 */
export function createLogger(
  level: string,
  destination: pino.DestinationStream = standardError,
  secrets: readonly string[] = [],
): Logger {
  const scrub = withoutSecrets(secrets);
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: SECRETS,
      serializers: { err: serializeError },
      // The last place that every line passes, whichever code wrote it.
      hooks: { streamWrite: scrub },
    },
    destination,
  );
}

interface SerializedError {
  type: string;
  message: string;
  code?: string;
  stack?: string;
  cause?: SerializedError;
}

/**
 * Only the fields of an error that are known to be harmless: drivers attach the parameters of a statement, or the
 * command that authenticated them. Drizzle even writes parameters into the message, after "params:".
 */
function serializeError(error: unknown, depth = 0): SerializedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error) };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    type: error.name,
    message: withoutParameters(error.message),
    ...(code === undefined ? {} : { code }),
    ...(error.stack === undefined ? {} : { stack: withoutParameters(error.stack) }),
    ...(error.cause === undefined || depth >= CAUSES_MAX ? {} : { cause: serializeError(error.cause, depth + 1) }),
  };
}

/** In a stack, the lines after the message stay. */
const withoutParameters = (text: string): string => text.replace(/\nparams: [\s\S]*?(?=\n {4}at |$)/, '');
