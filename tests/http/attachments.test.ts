/** Attachments of failures, from a job to the answers that show them. */
import { describe, expect, test } from 'bun:test';
import type { Attachment } from '../../src/domain/attachments.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';

const link = (name: string): Attachment => ({ kind: 'screenshot', name, url: `https://files.example/${name}.png` });
const failing = (name: string, attachments: Attachment[][]) => ({
  name,
  status: 'failed' as const,
  at: at(2),
  failures: attachments.map((own, i) => ({ type: 'Error', message: `no ${i}`, attachments: own })),
});

/** Jobs as a producer may send them: the gateway sends no such addresses. */
const HOSTILE = [
  { kind: 'log' as const, name: 'run', url: 'javascript:alert(1)' },
  { kind: 'log' as const, name: 'plain', url: 'http://files.example/a.log' },
  { kind: 'log' as const, name: 'secret', url: 'https://me:secret@files.example/a.log' },
  link('kept'),
];
const MANY = Array.from({ length: 9 }, (_, i) => link(`shot-${i}`));

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    fixture.run(
      [
        failing('cart', [[link('first')], [link('second')]]),
        failing('hostile', [HOSTILE]),
        failing('many', [MANY]),
        failing('plain', [[]]),
        ...beside(2),
      ],
      { commit: 'c1' },
    ),
  ),
);

interface Groups {
  failures: { id: string }[];
}
interface Group {
  latest_events: { attachments: Attachment[] }[];
}
async function groupsOf(name: string): Promise<Attachment[][]> {
  const { failures } = await insights.app.get<Groups>(insights.fixture.test(name, '/failures'));
  const groups = await Promise.all(
    failures.map(({ id }) => insights.app.get<Group>(insights.fixture.test(name, `/failures/${id}`))),
  );
  return groups.flatMap(({ latest_events: events }) => events.map(({ attachments }) => attachments));
}

describe('attachments', () => {
  test('are shown with the attempt that they are of', async () => {
    const found = await groupsOf('cart');
    expect(found.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))).toEqual([
      [link('first')],
      [link('second')],
    ]);
    expect(await groupsOf('plain')).toEqual([[]]);
  });

  test('that may not be linked are dropped, and so are more than eight', async () => {
    expect(await groupsOf('hostile')).toEqual([[link('kept')]]);
    expect(await groupsOf('many')).toEqual([MANY.slice(0, 8)]);
  });

  test('of all attempts are shown on the page of the commit, from ClickHouse as well as from its record', async () => {
    const read = async (query: string): Promise<Record<string, Attachment[]>> => {
      const { failures } = await insights.app.get<{ failures: { test_id: string; attachments: Attachment[] }[] }>(
        `${insights.fixture.base}/commits/c1/failures${query}`,
      );
      return Object.fromEntries(failures.map(({ test_id: id, attachments }) => [id, attachments]));
    };
    const idOf = (name: string): string => testIdOf(insights.fixture.id, name);
    const expected = {
      [idOf('cart')]: [link('first'), link('second')],
      [idOf('hostile')]: [link('kept')],
      [idOf('many')]: MANY.slice(0, 8),
      [idOf('plain')]: [],
    };
    expect(await read('')).toEqual(expected);
    await insights.fixture.settle();
    expect(await read('?per_page=50')).toEqual(expected);
  });
});
