/** The part of the configuration that is about kept uploads. `config.ts` reads the environment. */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { UserError } from './errors.ts';

/** An S3-compatible store, and where in it. */
export interface S3Config {
  bucket: string;
  /** Before every key: empty, or with a slash at its end. */
  prefix: string;
  /** Undefined: Amazon's, in {@link region}. */
  endpoint: string | undefined;
  region: string | undefined;
  accessKeyId: string;
  secretAccessKey: string;
}

/** For how long and where what arrives is kept beside both stores. */
export interface KeptConfig {
  days: number;
  /** An absolute path. */
  folder: string;
  /** The files of the folder move there within minutes. Undefined: they stay in the folder. */
  s3: S3Config | undefined;
}

/** `s3://bucket/prefix` */
export const s3Place = z.string().transform((value, context) => {
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([\w!.*'()/-]*))?$/.exec(value) ?? [];
  if (bucket !== undefined) return { bucket, prefix: prefix.replace(/(?<!\/)\/*$/, prefix === '' ? '' : '/') };
  context.addIssue({ code: 'custom', message: 'must be s3://bucket or s3://bucket/prefix' });
  return z.NEVER;
});

interface KeptSettings {
  UPLOADS_KEPT_DAYS?: number | undefined;
  UPLOADS_KEPT_IN?: string | undefined;
  UPLOADS_KEPT_S3?: z.output<typeof s3Place> | undefined;
  S3_ENDPOINT?: string | undefined;
  S3_REGION?: string | undefined;
  S3_ACCESS_KEY_ID?: string | undefined;
  S3_SECRET_ACCESS_KEY?: string | undefined;
}

/** Undefined: nothing is kept. Throws a {@link UserError} if a setting lacks another. */
export function keptOf(env: KeptSettings, dataDir: string): KeptConfig | undefined {
  const { UPLOADS_KEPT_DAYS: days, UPLOADS_KEPT_IN: folder, UPLOADS_KEPT_S3: place } = env;
  if (days === undefined) {
    if (folder === undefined && place === undefined) return undefined;
    throw new UserError(
      `${place ? 'UPLOADS_KEPT_S3' : 'UPLOADS_KEPT_IN'} needs UPLOADS_KEPT_DAYS: for how many days uploads are kept there.`,
    );
  }
  return { days, folder: folder === undefined ? join(dataDir, 'uploads-kept') : resolve(folder), s3: s3Of(env) };
}

function s3Of(env: KeptSettings): S3Config | undefined {
  const { UPLOADS_KEPT_S3: place, S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (!place) return undefined;
  if (!accessKeyId || !secretAccessKey)
    throw new UserError('UPLOADS_KEPT_S3 needs S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY.');
  return { ...place, endpoint: env.S3_ENDPOINT, region: env.S3_REGION, accessKeyId, secretAccessKey };
}
