/** Runners whose JUnit reports do not name them, told by the form of their elements. */
import { expect, test } from 'bun:test';
import { parseXml } from '../support/parsing.ts';

const runnerOf = async (xml: string) => (await parseXml(xml)).runs[0]?.run.framework;
const GRADLE_CASE = '<properties/><testcase name="adds()" classname="shop.CartTest" time="0.1"/>';

test('Gradle is told by the order of its attributes', async () => {
  const attributes = ['name="shop.CartTest"', 'tests="1"', 'skipped="0"', 'failures="0"', 'errors="0"'];
  const rest = ['timestamp="2026-11-28T07:05:23.120Z"', 'hostname="build"', 'time="0.1"'];
  const suite = (all: string[]) => `<testsuite ${all.join(' ')}>${GRADLE_CASE}</testsuite>`;
  expect(await runnerOf(suite([...attributes, ...rest]))).toBe('gradle');
  expect(await runnerOf(suite([...attributes, ...rest.toReversed()]))).toBeNull();
});

test('Surefire is told by its schema, and PHPUnit by the class that it writes twice', async () => {
  const schema = 'https://maven.apache.org/surefire/maven-surefire-plugin/xsd/surefire-test-report.xsd';
  const xsi = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
  expect(
    await runnerOf(`<testsuite ${xsi} xsi:noNamespaceSchemaLocation="${schema}" name="a">${GRADLE_CASE}</testsuite>`),
  ).toBe('surefire');
  const phpunit = (dots: string) =>
    `<testsuites><testsuite name="a"><testcase name="testAdds" class="Shop\\CartTest" classname="${dots}" assertions="1"/></testsuite></testsuites>`;
  expect(await runnerOf(phpunit('Shop.CartTest'))).toBe('phpunit');
  expect(await runnerOf(phpunit('Cart'))).toBeNull();
});
