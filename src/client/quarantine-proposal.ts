/** Proposes to quarantine a test only in the legs that its failures follow. */
import { axisPairs } from '../domain/axis-scope.ts';
import type { ScopeAsked } from './repository.ts';

/** The command that quarantines it where it fails. */
export function quarantineProposal(testName: string, { pipeline_name, job_name, axes }: ScopeAsked): string {
  const flags = [
    ...(pipeline_name ? [`--pipeline ${quoted(pipeline_name)}`] : []),
    ...(job_name ? [`--job ${quoted(job_name)}`] : []),
    ...axisPairs(axes ?? null).map(([name, value]) => `--axis ${quoted(`${name}=${value}`)}`),
  ];
  return `To quarantine it only there: ci-insights quarantine add ${quoted(testName)} ${flags.join(' ')} --reason '…'`;
}

/** Quotes a text so that a shell reads one word. */
const quoted = (text: string): string =>
  /^[\w./:=@%+-]+$/.test(text) && !text.startsWith('-') ? text : `'${text.replaceAll("'", `'\\''`)}'`;
