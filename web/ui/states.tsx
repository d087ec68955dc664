/** The states of a page beside its data: it loads, it has nothing, or something went wrong. Each says what to do. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Problem } from '../api/client.ts';

/** Gray bars in the size of what is coming, so that nothing jumps. */
export function Loading({ rows = 6 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="flex flex-col gap-2 p-4">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <div key={row} className="skeleton h-6" />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-2 px-4 py-14 text-center">
      <p className="font-medium">{title}</p>
      <div className="max-w-prose text-soft">{children}</div>
    </div>
  );
}

/** A refusal or a fault, in the service's own words. */
export function Failed({ error, reset }: { error: unknown; reset?: (() => void) | undefined }) {
  const isProblem = error instanceof Problem;
  return (
    <div role="alert" className="flex flex-col items-center gap-3 px-4 py-14 text-center">
      <p className="font-medium">{isProblem ? error.title : 'This page has a fault'}</p>
      <p className="max-w-prose text-soft">{error instanceof Error ? error.message : String(error)}</p>
      {isProblem && error.requestId !== undefined && error.status >= 500 && (
        <p className="text-soft">
          Request id <code className="font-mono">{error.requestId}</code>
        </p>
      )}
      {reset && (
        <button type="button" className="button" onClick={reset}>
          Try again
        </button>
      )}
    </div>
  );
}

interface NotYetProps {
  title: string;
  /** Null: it is on its way. */
  error: unknown;
  reset: () => void;
}

/** Instead of a page whose subject has not arrived: what it will be, and gray bars or what went wrong. */
export const NotYet = ({ title, error, reset }: NotYetProps) => (
  <>
    <h1 className="sr-only">{title}</h1>
    {error === null ? <Loading rows={10} /> : <Failed error={error} reset={reset} />}
  </>
);

export const NothingHere = () => (
  <main id="content" className="flex flex-col items-center gap-2 px-4 py-24">
    <h1 className="font-medium">There is nothing at this address</h1>
    <Link to="/">Go to the repositories</Link>
  </main>
);
