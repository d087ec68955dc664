/** The results of Allure. */
import type { ReportFormat } from '../format.ts';
import { isPart, packed } from './pack.ts';

export const allure: ReportFormat = {
  name: 'allure',
  title: 'Allure results',
  description:
    'Adapters of Allure write a folder of them, with a file for each test. Send a JSON list of these files, or a zip of the folder; `push` and `gate` take the folder.',
  globs: ['**/*-result.json', '**/*-container.json'],
  folder: { isPart, packed },
  hasFilesBeside: true,
  mediaTypes: ['application/json', 'application/zip'],
  example: {
    file: 'allure-results.json',
    text: JSON.stringify([
      {
        uuid: '4641add3-83f8-438b-b4a2-e9d06f7d808d',
        historyId: '994da673f955bef1975d5d89fb7748cb',
        fullName: 'shop.CartTest.adds',
        name: 'adds an item',
        status: 'passed',
        start: 1795253400000,
        stop: 1795253400012,
        labels: [{ name: 'framework', value: 'junit5' }],
      },
    ]),
  },
  isOther: async (body) => (await import('./read.ts')).isOtherAllure(body),
  parse: async (body, report) => (await import('./read.ts')).readAllure(body, report),
};
