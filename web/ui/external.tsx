/** Links whose address came with test results. */
import type { ReactNode } from 'react';
import { Hint } from './hint.tsx';

/** Only `http` and `https` become links; anything else stays text. */
export function ExternalLink({ href, children }: { href: string; children: ReactNode }) {
  const protocol = URL.parse(href)?.protocol;
  if (protocol !== 'http:' && protocol !== 'https:') return <Hint text={href}>{children}</Hint>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="underline">
      {children}
    </a>
  );
}
