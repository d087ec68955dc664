import type { Finding } from '../../src/operate/doctor/finding.ts';

/** Whether a remedy is given for everything that is not well, and for nothing else. */
export const isRemedied = (findings: readonly Finding[]): boolean =>
  findings.every(({ level, remedy }) => (level === 'ok') === (remedy === undefined));
