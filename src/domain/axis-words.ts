/** An explanation by axes as a sentence for people. Its names and values are foreign text. Pure. */
import { axisInWords } from './axes-in-words.ts';
import type { AxisTerm } from './axis-candidates.ts';
import type { AxisExplanation } from './axis-explanation.ts';

/** More ways to say the same help no one. */
const TERMS_IN_SENTENCE_MAX = 3;

/** @param legs how many legs the test ran in */
export function axisSentence(explanation: AxisExplanation, legs: number): string {
  if (explanation.kind === 'unknown')
    return legs <= 1
      ? 'It ran in one leg only, so there is nothing to compare.'
      : 'Too few commits tell its legs apart to say where it fails.';
  if (explanation.kind === 'every_leg') return 'Fails in every leg: its failures follow no axis.';
  const { kind, terms, isOnly, outside } = explanation;
  const shown = terms.slice(0, TERMS_IN_SENTENCE_MAX).map(termInWords).join(', or ');
  const where = `${kind === 'leg' ? 'in the leg' : 'with'} ${shown}`;
  const same = terms.length > 1 ? ': nothing that ran tells them apart' : '';
  if (outside.failed === 0) return `Fails only ${where}${same}.`;
  if (isOnly) return `Fails ${where}, hardly elsewhere${same}.`;
  return `Fails mostly ${where}${same === '' ? '' : ' (nothing that ran tells them apart)'}: elsewhere ${outside.failed} of ${outside.ran} executions failed.`;
}

const termInWords = (term: AxisTerm): string =>
  term.map(({ axis, values }) => axisInWords(axis, ...values)).join(' and ');
