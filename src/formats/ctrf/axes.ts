/** Axes of a CTRF report: from its environment, and from its tests. */
import { type Axes, joinedAxes } from '../../domain/axes.ts';
import { axesFrom, browserOf, deviceOf, environmentAxes, isOwnAxis, nameOfEnvironment, osOf } from '../environment.ts';
import type { CtrfTest, Environment, Extra } from './schemas.ts';

/** Versions of the system and of the app, builds and commits differ from run to run. */
export const axesOfReport = ({ osPlatform, testEnvironment, extra }: Environment): Axes | undefined =>
  joinedAxes(
    named(extra),
    axesFrom({ os: osOf(osPlatform ?? ''), environment: nameOfEnvironment(testEnvironment ?? '') }),
    environmentAxes(extra?.told ?? NONE),
  );

export function axesOfTest({ browser, device, extra }: CtrfTest): Axes | undefined {
  if (!browser && !device && !extra) return undefined;
  const own = [...(extra?.told ?? NONE)].filter(([name]) => isOwnAxis(name));
  return joinedAxes(
    named(extra),
    environmentAxes(new Map(own)),
    axesFrom({ browser: browserOf(browser ?? ''), device: deviceOf(device ?? '') }),
  );
}

/** The axes that a reporter lists as such. */
const named = (extra: Extra): Axes | undefined => axesFrom(Object.fromEntries(extra?.axes ?? NONE));

const NONE: ReadonlyMap<string, string> = new Map();
