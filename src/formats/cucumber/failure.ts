/** The failure of a scenario: that of the step which decides. */
import { cutFailure } from '../report.ts';
import type { ParsedFailure } from '../upload.ts';
import type { StepResult } from './messages.ts';

/** `AssertionError [ERR_ASSERTION]: 1 == 2`, `java.lang.AssertionError: expected 1`, `TypeError: x is undefined`. */
const TYPED = /^((?:\w+(?:\.|::))*\w*(?:Error|Exception|Failure|Failed))(?: \[\w+\])?: ?/;
/** The type is at the beginning, if it is anywhere. */
const TYPE_LENGTH_MAX = 300;
/** The first line of a stack trace. */
const STACK_LINE = /^\s*(?:at |\.\/|\/|File "|# |Traceback )/;

export interface FailedStep {
  result: StepResult;
  /** Null for a hook. */
  step: string | null;
}

const WITHOUT_EXCEPTION: Readonly<Record<string, string>> = {
  undefined: 'The step is undefined',
  pending: 'The step is pending',
  ambiguous: 'The step is ambiguous',
};

export function failureOf({ result, step }: FailedStep, attempt: number): ParsedFailure {
  const { exception, status } = result;
  const text = (result.message ?? exception?.stackTrace ?? '').trim();
  const about = step === null ? '' : `Step: ${step}`;
  if (text === '' && exception === undefined) {
    const said = WITHOUT_EXCEPTION[status.toLowerCase()] ?? 'The step failed';
    const message = step === null ? said : `${said}: ${step}`;
    return cutFailure({ attempt, type: null, message, stacktrace: null });
  }
  const read = ofText(text);
  return cutFailure({
    attempt,
    type: exception?.type || read.type,
    message: exception?.message || read.message,
    stacktrace: [about, text].filter((part) => part !== '').join('\n\n') || null,
  });
}

/** Type and message from a text that has both above its stack. */
function ofText(text: string): Pick<ParsedFailure, 'type' | 'message'> {
  const type = TYPED.exec(text.slice(0, TYPE_LENGTH_MAX));
  const rest = type ? text.slice(type[0].length) : text;
  let end = rest.indexOf('\n');
  while (end >= 0 && !STACK_LINE.test(rest.slice(end + 1, end + 100))) end = rest.indexOf('\n', end + 1);
  return { type: type?.[1] ?? null, message: (end < 0 ? rest : rest.slice(0, end)).trim() || null };
}
