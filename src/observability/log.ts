/** Structured logs: one JSON object a line on standard error, so that standard output stays free for answers. */
import pino from 'pino';

export type Logger = pino.Logger;

/** Fields that could hold a secret are removed wherever a request or an error is logged. */
const SECRETS = ['authorization', '*.authorization', 'headers.authorization', 'token', '*.token', 'connectionString'];

export function createLogger(level: string, destination: pino.DestinationStream = pino.destination(2)): Logger {
  return pino({ level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, redact: SECRETS }, destination);
}
