/** The output of Robot Framework. */
import type { ReportFormat } from '../format.ts';

export const robot: ReportFormat = {
  name: 'robot',
  title: 'Robot Framework',
  description: 'Robot Framework 4 and later writes them as `output.xml`, and `rebot --merge` does so after a rerun.',
  globs: ['**/*.xml'],
  hasFilesBeside: true,
  mediaTypes: ['application/xml', 'text/xml'],
  example: {
    file: 'output.xml',
    text: '<robot generator="Robot 7.5 (Python 3.14.2 on linux)"><suite name="Cart" source="/home/me/shop/cart.robot"><test name="Adds an item"><status status="PASS" start="2026-11-21T09:30:00.000000" elapsed="0.012000"/></test></suite></robot>',
  },
  isOther: async (body) => (await import('./read.ts')).isOtherRobot(body),
  parse: async (body, report) => (await import('./read.ts')).readRobot(body, report),
};
