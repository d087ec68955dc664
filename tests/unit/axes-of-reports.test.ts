/** What reports say of their environment becomes axes: one run for each leg, and the sender's own axes count more. */
import { describe, expect, test } from 'bun:test';
import { allure } from '../../src/formats/allure/format.ts';
import { bazel } from '../../src/formats/bazel/format.ts';
import { ctrf } from '../../src/formats/ctrf/format.ts';
import { cucumber } from '../../src/formats/cucumber/format.ts';
import type { ReportFormat } from '../../src/formats/format.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { nunit } from '../../src/formats/nunit/format.ts';
import { playwright } from '../../src/formats/playwright/format.ts';
import { LEGS_MAX } from '../../src/formats/report.ts';
import { robot } from '../../src/formats/robot/format.ts';
import type { ParsedUpload } from '../../src/formats/upload.ts';
import { xunit } from '../../src/formats/xunit/format.ts';
import { RUN } from '../support/parsing.ts';
import { keysOf, parse, parseFixture } from '../support/reports.ts';

/** `{"os":"linux"}: pays, ships` for each run. */
const legsOf = ({ runs }: ParsedUpload) =>
  runs.map(({ run, executions }) => [run.axes ?? {}, executions.map(({ name }) => name)]);
const axesOf = ({ runs }: ParsedUpload) => runs.map(({ run }) => run.axes ?? {});
const suiteOf = (
  name: string,
  properties: Record<string, string>,
  cases = '<testcase classname="Cart" name="pays"/>',
) =>
  `<testsuite name="${name}"><properties>${Object.entries(properties)
    .map(([key, value]) => `<property name="${key}" value="${value}"/>`)
    .join('')}</properties>${cases}</testsuite>`;

describe('reports of real tools', () => {
  const samples: [ReportFormat, string, Record<string, string>[]][] = [
    [playwright, 'two-projects.json', [{ project: 'desktop' }, { project: 'mobile' }]],
    [junit, 'playwright-1.65.xml', [{ project: 'chromium' }, { project: 'webkit' }]],
    [junit, 'surefire-reruns.xml', [{ java: '21' }]],
    [junit, 'surefire-3.5-properties.xml', [{ os: 'linux', arch: 'x64', java: '17' }]],
    [junit, 'vitest-4.xml', [{}]],
    [junit, 'pytest-9.2.xml', [{}]],
    [junit, 'node-24.xml', [{}]],
    [
      junit,
      'pytest-9.2-axes.xml',
      [
        { db: 'sqlite', browser: 'firefox', os: 'linux', python: '3.11' },
        { db: 'sqlite', browser: 'webkit', os: 'linux', python: '3.11' },
        { db: 'sqlite', os: 'linux', python: '3.11' },
      ],
    ],
    [ctrf, 'pytest-9.2.json', [{ os: 'linux' }]],
    [ctrf, 'jest-30.json', [{}]],
    [cucumber, 'messages-js-12.ndjson', [{ os: 'linux', arch: 'x64', node: '20' }]],
    [robot, 'robot-7.5.xml', [{ os: 'linux', python: '3.11' }]],
    [robot, 'robot-7.5-merged.xml', [{}]],
    [nunit, 'nunit3-console.xml', [{ os: 'linux', arch: 'x64', dotnet: '8.0' }]],
    [xunit, 'xunit-2.xml', [{ dotnet: '8.0' }]],
    [xunit, 'xunit-3.xml', [{ dotnet: '8.0' }]],
    [allure, 'allure-pytest-2.16.json', [{}]],
  ];
  test.each(samples.map(([format, file, expected]) => [`${format.name}/${file}`, format, file, expected] as const))(
    '%s',
    async (_, format, file, expected) => {
      expect(axesOf(await parseFixture(format, file)).toSorted(byText)).toEqual(expected);
    },
  );
  const byText = (one: object, other: object): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
});

describe('the properties of a JUnit suite', () => {
  test('hold for its tests and those of the suites in it, which may say more', async () => {
    const inner = `<testcase classname="Cart" name="ships"/>${suiteOf('inner', { browser: 'webkit' }, '<testcase classname="Cart" name="totals"/>')}`;
    const upload = await parse(junit, suiteOf('outer', { 'os.name': 'Linux' }, inner));
    expect(legsOf(upload)).toEqual([
      [{ os: 'linux' }, ['Cart.ships']],
      [{ os: 'linux', browser: 'webkit' }, ['Cart.totals']],
    ]);
  });

  test('of a Surefire that writes all system properties are three stable axes', async () => {
    const properties = (run: string) => ({
      'java.specification.version': '21',
      'java.version': `21.0.${run}`,
      'java.vm.version': `21.0.${run}+7-LTS`,
      'java.class.path': `/home/${run}/shop/target`,
      'user.dir': `/home/${run}/shop`,
      'os.name': 'Linux',
      'os.arch': 'amd64',
      'os.version': `6.8.0-10${run}-azure`,
      'surefire.real.class.path': `/home/${run}/surefire.jar`,
      'java.io.tmpdir': '/tmp',
      'user.name': `runner${run}`,
      'sun.arch.data.model': '64',
      'file.encoding': 'UTF-8',
    });
    for (const run of ['4', '5'])
      expect(axesOf(await parse(junit, suiteOf('s', properties(run))))).toEqual([
        { os: 'linux', arch: 'x64', java: '21' },
      ]);
  });

  test('make legs of one test, which keeps its name', async () => {
    const karma = (agent: string, name: string) => suiteOf(name, { 'browser.fullName': agent });
    const upload = await parse(
      junit,
      `<testsuites>${karma('Mozilla/5.0 HeadlessChrome/131.0 Safari/537', 'Chrome Headless 131.0')}${karma('Mozilla/5.0 Gecko/20100101 Firefox/133.0', 'Firefox 133.0')}</testsuites>`,
    );
    expect(legsOf(upload)).toEqual([
      [{ browser: 'chrome' }, ['Cart.pays']],
      [{ browser: 'firefox' }, ['Cart.pays']],
    ]);
    expect(upload.warnings).toEqual([]);
    expect(new Set(keysOf(upload)).size).toBe(2);
  });

  test('of a test count only if they begin with axis.', async () => {
    const test = (name: string, property: string) =>
      `<testcase classname="Cart" name="${name}"><properties><property name="${property}" value="firefox"/></properties></testcase>`;
    const upload = await parse(
      junit,
      suiteOf('s', { os: 'linux' }, test('pays', 'axis.browser') + test('ships', 'browser')),
    );
    expect(legsOf(upload)).toEqual([
      [{ os: 'linux', browser: 'firefox' }, ['Cart.pays']],
      [{ os: 'linux' }, ['Cart.ships']],
    ]);
  });
});

test('the axes that the sender names count more than those of the report', async () => {
  const run = { ...RUN, axes: { os: 'ubuntu-24.04', shell: 'bash' } };
  expect(axesOf(await parse(junit, suiteOf('s', { 'os.name': 'Linux', 'os.arch': 'amd64' }), { run }))).toEqual([
    { os: 'ubuntu-24.04', shell: 'bash', arch: 'x64' },
  ]);
});

test('records that the axes of the sender make one leg of are settled in it', async () => {
  const two = `<testsuites>${suiteOf('s', { 'axis.os': 'a' })}${suiteOf('t', { 'axis.os': 'b' })}</testsuites>`;
  expect(legsOf(await parse(junit, two))).toEqual([
    [{ os: 'a' }, ['Cart.pays']],
    [{ os: 'b' }, ['Cart.pays']],
  ]);
  expect(legsOf(await parse(junit, two, { run: { ...RUN, axes: { os: 'c' } } }))).toEqual([
    [{ os: 'c' }, ['s.Cart.pays', 't.Cart.pays']],
  ]);
});

test('axes of the report that would be too many are left out, and no result is lost', async () => {
  const axes = Object.fromEntries(Array.from({ length: 15 }, (_, i) => [`a${i}`, 'x']));
  const upload = await parse(junit, suiteOf('s', { os: 'linux', arch: 'amd64' }), { run: { ...RUN, axes } });
  expect(legsOf(upload)).toEqual([[{ ...axes, os: 'linux' }, ['Cart.pays']]]);
  expect(upload.rejections).toEqual([]);
});

test('axes that differ from test to test are none: the receipt says so', async () => {
  const suites = Array.from({ length: LEGS_MAX + 1 }, (_, i) => suiteOf(`s${i}`, { 'axis.id': `${i}` }));
  const upload = await parse(junit, `<testsuites>${suites.join('')}</testsuites>`);
  expect(axesOf(upload)).toEqual([{}]);
  expect(upload.warnings[0]).toBe(
    `The report describes more than ${LEGS_MAX} environments. They are left out: an axis has few values, the same in every run.`,
  );
});

test('an empty report and one of which every test is refused keep their run', async () => {
  expect(axesOf(await parse(junit, '<testsuites/>'))).toEqual([{}]);
  expect(axesOf(await parse(junit, suiteOf('s', { os: 'linux' }, '<testcase/>')))).toEqual([{}]);
});

describe('CTRF', () => {
  const report = (tests: object[], environment?: object) =>
    JSON.stringify({ results: { tool: { name: 'x' }, tests, ...(environment && { environment }) } });
  const pays = { name: 'pays', status: 'passed', duration: 1 };

  test('describes the environment, also after the tests', async () => {
    const environment = {
      ...{ osPlatform: 'darwin', osRelease: '23.6.0', osVersion: '14.6', testEnvironment: 'staging', buildNumber: '7' },
      extra: {
        ...{ 'node.version': 'v24.1.0', 'axis.db': 'postgres', 'axis.__proto__': 'x', runner: 'ci-7' },
        axes: JSON.parse('{"tier":2,"__proto__":"x"}'),
      },
    };
    expect(axesOf(await parse(ctrf, report([pays], environment)))).toEqual([
      { os: 'macos', environment: 'staging', node: '24', db: 'postgres', tier: '2' },
    ]);
    expect(axesOf(await parse(ctrf, report([pays], { testEnvironment: 'pr-1234' })))).toEqual([{}]);
  });

  test('names the browser, the device and more of a test', async () => {
    const tests = [
      { ...pays, browser: 'chromium 131.0' },
      { ...pays, name: 'ships', device: 'iPhone 15' },
      { ...pays, name: 'totals', device: 'emulator-5554', extra: { axes: { locale: 'de' } } },
    ];
    expect(legsOf(await parse(ctrf, report(tests)))).toEqual([
      [{ browser: 'chromium' }, ['pays']],
      [{ device: 'iPhone 15' }, ['ships']],
      [{ locale: 'de' }, ['totals']],
    ]);
  });

  test('the same test with other axes is no attempt', async () => {
    const tests = ['de', 'fr'].map((locale) => ({
      ...pays,
      status: locale === 'de' ? 'failed' : 'passed',
      extra: { axes: { locale } },
    }));
    const { runs } = await parse(ctrf, report(tests));
    expect(
      runs.map(({ run, executions }) => [run.axes, executions.map(({ status, isFlaky }) => [status, isFlaky])]),
    ).toEqual([
      [{ locale: 'de' }, [['failed', false]]],
      [{ locale: 'fr' }, [['passed', false]]],
    ]);
  });
});

describe('Allure', () => {
  const result = (labels: Record<string, string>, more: object = {}) => ({
    ...{ name: 'pays', fullName: 'Cart.pays', status: 'passed', start: 1, stop: 2 },
    labels: Object.entries(labels).map(([name, value]) => ({ name, value })),
    ...more,
  });
  test('tells axes by labels; hosts, threads and parameters are none', async () => {
    const upload = await parse(
      allure,
      JSON.stringify([
        result({ os: 'Linux', browser: 'Firefox 133', host: 'ci-7', thread: '4', 'axis.db': 'mysql' }),
        result({ host: 'ci-8' }, { fullName: 'Cart.ships', parameters: [{ name: 'os', value: 'windows' }] }),
      ]),
    );
    expect(legsOf(upload)).toEqual([
      [{ os: 'linux', browser: 'firefox', db: 'mysql' }, ['Cart.pays']],
      [{}, ['Cart.ships[os=windows]']],
    ]);
  });
  test('attempts of a test belong to its leg, and one leg tells nothing of the other', async () => {
    const of = (browser: string, status: string, start: number) =>
      result({ browser }, { historyId: browser, status, start, stop: start + 1 });
    const { runs } = await parse(
      allure,
      JSON.stringify([of('firefox', 'failed', 1), of('webkit', 'passed', 2), of('firefox', 'passed', 3)]),
    );
    expect(runs.map(({ run, executions }) => [run.axes, executions.map(({ isFlaky }) => isFlaky)])).toEqual([
      [{ browser: 'webkit' }, [false]],
      [{ browser: 'firefox' }, [true]],
    ]);
  });
  test('of Playwright names the project', async () => {
    const parameters = [{ name: 'Project', value: 'webkit' }];
    expect(axesOf(await parse(allure, JSON.stringify([result({ framework: 'playwright' }, { parameters })])))).toEqual([
      { project: 'webkit' },
    ]);
    expect(axesOf(await parse(allure, JSON.stringify([result({ framework: 'pytest' }, { parameters })])))).toEqual([
      {},
    ]);
  });
});

test('.NET: assemblies for several targets are legs of one test', async () => {
  const assembly = (target: string, result: string) =>
    `<assembly name="Shop.Tests.dll" target-framework="${target}" environment="64-bit .NET"><collection><test name="Shop.Cart.Pays" type="Shop.Cart" method="Pays" result="${result}" time="1"/></collection></assembly>`;
  const { runs } = await parse(
    xunit,
    `<assemblies>${assembly('.NETCoreApp,Version=v8.0', 'Pass')}${assembly('.NETFramework,Version=v4.7.2', 'Fail')}</assemblies>`,
  );
  expect(runs.map(({ run, executions }) => [run.axes, executions.map(({ name, status }) => [name, status])])).toEqual([
    [{ dotnet: '8.0' }, [['Shop.Cart.Pays', 'passed']]],
    [{ dotnet: '4.7.2' }, [['Shop.Cart.Pays', 'failed']]],
  ]);
});

test('Bazel: the cpu of a configuration', async () => {
  const axes = (await parseFixture(bazel, 'build-events.ndjson')).runs.map(({ run }) => run.axes ?? {});
  expect(axes.toSorted((one, other) => (one.arch ?? '').localeCompare(other.arch ?? ''))).toEqual([
    { arch: 'arm64' },
    { arch: 'x64' },
  ]);
});

test('Cucumber: the version of a Java runtime, where the machine says it', async () => {
  const meta = (runtime: object) =>
    [
      { meta: { implementation: { name: 'cucumber-jvm' }, os: { name: 'Linux' }, cpu: { name: 'amd64' }, runtime } },
      { testRunFinished: { success: true } },
    ]
      .map((message) => JSON.stringify(message))
      .join('\n');
  const java = (version: string) => ({ name: 'OpenJDK 64-Bit Server VM', version });
  expect(axesOf(await parse(cucumber, meta(java('21.0.4+7-LTS'))))).toEqual([{ os: 'linux', arch: 'x64', java: '21' }]);
  expect(axesOf(await parse(cucumber, meta(java('25.412-b08'))))).toEqual([{ os: 'linux', arch: 'x64' }]);
});
