/** Headers that tell a browser to treat an answer as what it is. Every answer has them; tests ask at every route. */

const COMMON = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' };

/** For answers that are data: JSON, text, nothing. A browser that shows one loads and runs nothing. */
export const DATA_HEADERS: Readonly<Record<string, string>> = {
  ...COMMON,
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
};

/** For a page of ours. What is not in `sources` is not loaded; no other page may frame it. */
export const pageHeaders = (sources: string): Record<string, string> => ({
  ...COMMON,
  'content-security-policy': `default-src 'none'; ${sources}; base-uri 'self'; form-action 'none'; frame-ancestors 'none'`,
});
