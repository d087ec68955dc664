/** The scheme of colours on the page. */
import { chosenScheme, keep, SCHEME_KEY, type Scheme } from './display.ts';

export function applyScheme(scheme = chosenScheme()): void {
  document.documentElement.style.colorScheme = scheme ?? '';
}

export function chooseScheme(scheme: Scheme | undefined): void {
  keep(SCHEME_KEY, scheme);
  applyScheme(scheme);
}
