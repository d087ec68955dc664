/** The parser of `testng-results.xml`. */
import type { ReportFormat } from '../format.ts';
import { isOtherXml } from '../other-xml.ts';
import { readXml } from '../xml.ts';
import { TestngHandler } from './handler.ts';

const TESTNG = {
  title: 'TestNG XML',
  roots: ['testng-results'],
  nameAttributes: ['name', 'test-instance-name'],
} as const;

export const readTestng: ReportFormat['parse'] = async (body, report) => {
  const handler = new TestngHandler(report);
  const breakage = await readXml(body, TESTNG, handler);
  handler.finish(breakage);
};

export const isOtherTestng = (body: Uint8Array): boolean => isOtherXml(body, TESTNG.roots);
