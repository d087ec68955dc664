/** The report formats. A new one is a folder here and a line in this list. */
import type { ReportFormat } from './format.ts';
import { junit } from './junit/format.ts';

export const FORMATS: readonly ReportFormat[] = [junit];
