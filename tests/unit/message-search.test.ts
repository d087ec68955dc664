import { expect, test } from 'bun:test';
import { parseMessageSearch } from '../../src/domain/message-search.ts';

test.each([
  ['refused', { words: 'refused', phrases: [] }],
  ['refused "port closed" peer', { words: 'refused   peer', phrases: ['port closed'] }],
  ['"port closed', { words: 'port closed', phrases: [] }],
  ['"" "!"', { words: '!', phrases: [] }],
])('%s is split', (typed, { words, phrases }) => {
  const found = parseMessageSearch(typed);
  expect({ ...found, words: found.words.replace(/\s+/g, ' ') }).toEqual({ words: words.replace(/\s+/g, ' '), phrases });
});
