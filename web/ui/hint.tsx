/**
 * What more there is to know of something: UTC beside a time, the whole of a cut name. It shows by hover, by focus and by a
 * touch. One tooltip serves the page: what has a hint carries it as `data-hint`.
 */
import { createContext, lazy, type ReactNode, Suspense, useContext, useEffect, useRef, useState } from 'react';

/**
 * How keys reach what has a hint, as a `tabIndex`: by Tab (0), by the arrows of a table (-1), or with what contains it, such
 * as a row that unfolds (undefined).
 */
export const HintReach = createContext<0 | -1 | undefined>(0);

interface HintProps {
  text: string;
  className?: string;
  children: ReactNode;
}

/** Text with a hint. Links and buttons carry `data-hint` themselves. */
export function Hint({ text, className = '', children }: HintProps) {
  return (
    <button type="button" tabIndex={useContext(HintReach)} data-hint={text} className={`hint ${className}`}>
      {children}
    </button>
  );
}

const OpenHint = lazy(() => import('./open-hint.tsx'));
/** A pointer that only passes shows nothing. */
const PAUSE_MS = 400;

const hintedAt = (target: EventTarget | null): HTMLElement | null =>
  target instanceof Element ? target.closest<HTMLElement>('[data-hint]') : null;

/** The hint of what has the focus by the keyboard, or of what that contains. */
function hintedByFocus(target: EventTarget | null): HTMLElement | null {
  if (!(target instanceof Element) || !target.matches(':is(a, button, summary, [data-hint]):focus-visible'))
    return null;
  return hintedAt(target) ?? target.querySelector<HTMLElement>('[data-hint]');
}

/** A name that is wholly there needs no hint. */
const saysMore = (element: HTMLElement): boolean =>
  element.dataset.hintWhen !== 'cut' || [element, ...element.children].some((one) => one.scrollWidth > one.clientWidth);

/** Shows the hint of what the pointer is over, what has the focus, or what was touched. Once on every page. */
export function Hints() {
  const [shown, setShown] = useState<HTMLElement | null>(null);
  const near = useRef<HTMLElement | null>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (element: HTMLElement | null, after = 0) => {
      if (element === near.current) return;
      near.current = element;
      clearTimeout(timer);
      if (element === null || !saysMore(element)) setShown(null);
      else timer = setTimeout(() => setShown(element), after);
    };
    const ends = new AbortController();
    const on = <K extends keyof DocumentEventMap>(type: K, listener: (event: DocumentEventMap[K]) => void) =>
      document.addEventListener(type, listener, { signal: ends.signal, passive: true });
    on('pointerover', ({ target, pointerType }) => pointerType === 'mouse' && show(hintedAt(target), PAUSE_MS));
    on('focusin', ({ target }) => show(hintedByFocus(target)));
    on('focusout', () => show(null));
    on('click', ({ target }) => {
      const element = hintedAt(target);
      // A link leads on; text with a hint has nothing else to do.
      show(element?.classList.contains('hint') ? element : null);
    });
    on('keydown', ({ key }) => key === 'Escape' && show(null));
    on('scroll', () => show(null));
    return () => {
      clearTimeout(timer);
      ends.abort();
    };
  }, []);
  const text = shown?.isConnected ? shown.dataset.hint : undefined;
  if (!shown || text === undefined) return null;
  return (
    <Suspense>
      <OpenHint key={text} element={shown} text={text} />
    </Suspense>
  );
}
