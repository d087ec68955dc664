/** Axes and places of OTLP: from attributes of the resource, and of a span where it says more. */
import { describe, expect, test } from 'bun:test';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { otlpJson, otlpProtobuf } from '../support/otlp.ts';

const TEST = { 'test.scope': 'case' };
const RESOURCE = {
  'os.type': 'linux',
  'os.version': '6.8.0-1017-azure',
  'host.arch': 'amd64',
  'host.name': 'ci-7',
  'process.runtime.name': 'cpython',
  'process.runtime.version': '3.13.1',
  'k8s.pod.name': 'ci-7-abc',
  'cloud.region': 'eu-west-1',
  'cicd.worker.name': 'worker 7',
  'test.axis.db': 'postgres',
};

describe.each([
  ['protobuf', (input: Parameters<typeof otlpProtobuf>[0]) => otlpProtobuf(input)],
  ['json', (input: Parameters<typeof otlpJson>[0]) => Buffer.from(otlpJson(input))],
] as const)('%s', (encoding, bodyOf) => {
  const runsOf = async (input: Parameters<typeof otlpProtobuf>[0]) =>
    (await parseOtlp(bodyOf(input), encoding)).runs.map(({ run: { axes, place } }) => ({ axes, place }));

  test('the resource tells axes and place of its tests', async () => {
    expect(await runsOf({ resource: RESOURCE, spans: [{ attributes: TEST }] })).toEqual([
      {
        axes: { os: 'linux', arch: 'x64', python: '3.13', db: 'postgres' },
        place: { host: 'ci-7', pod: 'ci-7-abc', region: 'eu-west-1', runner: 'worker 7' },
      },
    ]);
  });

  test('a span may belong to another leg than its resource', async () => {
    const spans = [
      { attributes: { ...TEST, 'test.axis.browser': 'webkit' } },
      { attributes: { ...TEST, 'test.axis.db': 'mysql' } },
      { attributes: TEST },
    ];
    expect((await runsOf({ resource: { 'test.axis.db': 'postgres' }, spans })).map(({ axes }) => axes)).toEqual([
      { db: 'postgres', browser: 'webkit' },
      { db: 'mysql' },
      { db: 'postgres' },
    ]);
  });

  test('without such attributes a run has neither', async () => {
    expect(await runsOf({ resource: {}, spans: [{ attributes: TEST }] })).toEqual([
      { axes: undefined, place: undefined },
    ]);
  });

  test('what no axis may be is left out, and the test is kept', async () => {
    const resource = { 'test.axis.': 'x', 'test.axis.a b': 'x', 'os.type': 'plan 10', 'host.name': 'x'.repeat(300) };
    expect(await runsOf({ resource, spans: [{ attributes: TEST }] })).toEqual([{ axes: undefined, place: undefined }]);
  });
});

test.each([
  [{ name: 'nodejs', version: '24.21.0' }, { node: '24' }],
  [{ name: 'OpenJDK Runtime Environment', version: '21.0.4+7-LTS' }, { java: '21' }],
  [{ name: 'go', version: 'go1.27.3' }, { go: '1.27' }],
  [{ name: '.NET', version: '8.0.11' }, { dotnet: '8.0' }],
  [{ name: 'ruby', version: '3.4.1' }, { ruby: '3.4' }],
  [{ name: 'cli', version: '8.4.2' }, undefined],
  [{ name: 'pypy', version: '3.11.9' }, { pypy: '3.11' }],
])('the runtime %j is the axis %j', async ({ name, version }, axes) => {
  const resource = { 'process.runtime.name': name, 'process.runtime.version': version };
  const upload = await parseOtlp(otlpProtobuf({ resource, spans: [{ attributes: TEST }] }), 'protobuf');
  expect(upload.runs[0]?.run.axes).toEqual(axes as Record<string, string>);
});
