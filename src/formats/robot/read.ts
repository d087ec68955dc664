/** The parser of `output.xml` of Robot Framework. */
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { ROBOT_MARKUP_LENGTH_PER_TEST, ROBOT_PARTS_PER_TEST } from '../../domain/limits.ts';
import type { ReportFormat } from '../format.ts';
import { isOtherXml } from '../other-xml.ts';
import { readXml, type XmlReport } from '../xml.ts';
import { RobotHandler } from './handler.ts';

const ROBOT: XmlReport = {
  title: 'Robot Framework',
  roots: ['robot'],
  nameAttributes: ['name'],
  allowance: {
    parts: ROBOT_PARTS_PER_TEST,
    markupLength: ROBOT_MARKUP_LENGTH_PER_TEST,
    tooManyParts: () => UPLOAD_LIMITS.ROBOT_PARTS_PER_TEST.sentence(),
    tooMuchMarkup: () => UPLOAD_LIMITS.ROBOT_MARKUP_LENGTH_PER_TEST.sentence(),
  },
};

export const readRobot: ReportFormat['parse'] = async (body, report) => {
  const handler = new RobotHandler(report);
  const breakage = await readXml(body, ROBOT, handler);
  handler.finish(breakage);
};

export const isOtherRobot = (body: Uint8Array): boolean => isOtherXml(body, ROBOT.roots);
