/** Structured logs: one JSON object a line on standard error, so that standard output stays free for answers. */
import pino from 'pino';
import { withoutSecrets } from './secrets.ts';

export type Logger = pino.Logger;

/** Fields that could hold a secret are removed wherever a request or an error is logged. */
const SECRETS = ['authorization', '*.authorization', 'headers.authorization', 'token', '*.token', 'connectionString'];
const CAUSES_MAX = 5;

/**
 * @param secrets Exact values that no line may hold, such as the passwords of the stores; see `secretsOf` of the configuration.
 */
export function createLogger(
  level: string,
  destination: pino.DestinationStream = pino.destination(2),
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
      // The last place that every line passes, whoever wrote what into it.
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
 * What is known to be harmless of an error, and no other field of it: drivers hang the statement's parameters, or the command
 * with which they authenticated, on theirs. Drizzle even writes parameters into the message, after "params:".
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

/** In a stack, the lines after the message are kept. */
const withoutParameters = (text: string): string => text.replace(/\nparams: [\s\S]*?(?=\n {4}at |$)/, '');
