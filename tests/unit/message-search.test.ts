import { expect, test } from 'bun:test';
import { MESSAGE_SEARCH_LENGTH_MAX, parseMessageSearch, searchForLike } from '../../src/domain/message-search.ts';

test.each([
  ['refused', { words: 'refused', phrases: [] }],
  ['refused "port closed" peer', { words: 'refused   peer', phrases: ['port closed'] }],
  ['"port closed', { words: 'port closed', phrases: [] }],
  ['"" "!"', { words: '!', phrases: [] }],
])('%s is split', (typed, { words, phrases }) => {
  const found = parseMessageSearch(typed);
  expect({ ...found, words: found.words.replace(/\s+/g, ' ') }).toEqual({ words: words.replace(/\s+/g, ' '), phrases });
});

test.each([
  ['connect ECONNREFUSED 127.0.0.1:5432', 5, 'connect econnrefused'],
  ["locator('#total') was not visible within 5000 ms", 2, 'locator total'],
  ['expected 3 to equal 4', 5, ''],
  ['', 5, ''],
])('a search for messages like %p has at most %d words that say something', (message, words, search) => {
  expect(searchForLike(message, words)).toBe(search);
});

test('a search for messages like a long one is no longer than a search may be', () => {
  const message = Array.from(
    { length: 100 },
    (_, i) => `${'long'.repeat(8)}${String.fromCharCode(97 + (i % 26))}`,
  ).join(' ');
  expect(searchForLike(message, 100).length).toBeLessThanOrEqual(MESSAGE_SEARCH_LENGTH_MAX);
  expect(searchForLike(message, 100)).toStartWith('long');
});
