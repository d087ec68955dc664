/** The tooltip that is shown (hint.tsx). */
import { useEffect, useId, useMemo } from 'react';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';

export default function OpenHint({ element, text }: { element: HTMLElement; text: string }) {
  const id = useId();
  const trigger = useMemo(() => ({ current: element }), [element]);
  useEffect(() => {
    element.setAttribute('aria-describedby', id);
    return () => element.removeAttribute('aria-describedby');
  }, [element, id]);
  return (
    // A tooltip takes its state from a trigger; the element that it stands at is another.
    <TooltipTrigger isOpen>
      <Tooltip
        triggerRef={trigger}
        // Readers expect everything within a landmark.
        UNSTABLE_portalContainer={element.closest<HTMLElement>('main, header') ?? document.body}
        placement="top"
        offset={6}
        className="card pointer-events-none max-w-[min(32rem,calc(100vw-1rem))] px-2.5 py-1.5 text-xs break-words whitespace-pre-line text-ink shadow-lg"
      >
        <span id={id}>{text}</span>
      </Tooltip>
    </TooltipTrigger>
  );
}
