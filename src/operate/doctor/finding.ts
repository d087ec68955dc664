/** The result of one check of the doctor. */
import pTimeout from 'p-timeout';

export interface Finding {
  /** Name of the check, in a few words. */
  check: string;
  /** A problem keeps the service from working, or soon will; a warning is worth knowing. */
  level: 'ok' | 'warning' | 'problem';
  message: string;
  /** The way to fix it. Only for warnings and problems. */
  remedy?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message });
export const warning = (check: string, message: string, remedy: string): Finding => ({
  check,
  level: 'warning',
  message,
  remedy,
});
export const problem = (check: string, message: string, remedy: string): Finding => ({
  check,
  level: 'problem',
  message,
  remedy,
});

/** How long a store or an address may take to respond. */
export const TIMEOUT_MS = 5_000;

/** Throws if there is no response in time. */
export const inTime = <T>(ask: () => Promise<T>): Promise<T> =>
  pTimeout(ask(), { milliseconds: TIMEOUT_MS, message: `no response within ${TIMEOUT_MS / 1_000} s` });

/** The first line of the innermost cause's message: wrappers say less. */
export function reasonOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return String(innermost);
  const code = 'code' in innermost && typeof innermost.code === 'string' ? innermost.code : '';
  return innermost.message.split('\n')[0] || code || innermost.name;
}

/** Why a certificate was not accepted, by the codes of OpenSSL, and what to do about it. */
const TLS_REMEDIES: readonly { codes: RegExp; remedy: string }[] = [
  {
    codes: /^(?:UNABLE_TO_(?:GET|VERIFY)_\w+|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT)$/,
    remedy:
      'No authority that is known here has signed its certificate. Name the file with the certificates of your authority in NODE_EXTRA_CA_CERTS, for every process of the service.',
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    remedy: 'Its certificate is for another name. Use that name in the address, or give it a certificate for this one.',
  },
  { codes: /^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/, remedy: 'Renew its certificate, and check the clock here.' },
];
/** Messages of drivers that find something else than TLS where it should be, or the other way round. */
const NO_TLS =
  /does not support SSL|no encryption|wrong version number|ERR_SSL_\w+|SSL_ERROR|plain HTTP request was sent/i;

/** The remedy if TLS failed; undefined if something else did. */
export function tlsRemedy(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
    const found = TLS_REMEDIES.find(({ codes }) => codes.test(code));
    if (found) return found.remedy;
    if (NO_TLS.test(code) || NO_TLS.test(cause.message))
      return 'One side speaks TLS, and the other does not: check https or rediss in the address, sslmode, and the port.';
  }
  return undefined;
}
