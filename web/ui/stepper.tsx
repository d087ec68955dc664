/**
 * A drawing made of steps from left to right, such as the bars of a chart. One looks at a step by pointing at it, by
 * touching it, or with the arrow keys; a screen reader reads out what it says. With `onSelect`, dragging chooses steps, and
 * so do Shift with the arrow keys, and Enter.
 */
import { type KeyboardEvent, type PointerEvent, type ReactNode, useRef, useState } from 'react';
import { stepAt } from './chart-scale.ts';

interface Span {
  first: number;
  last: number;
}

interface StepperProps {
  /** Says what is drawn, for those who do not see it. */
  label: string;
  /** Where each step ends, as a share of the width; the last one is 1. */
  ends: readonly number[];
  /** What a step says, in words. */
  describe: (step: number) => string;
  onSelect?: ((first: number, last: number) => void) | undefined;
  className: string;
  /** @param at the step that one looks at */
  children: (at: number | undefined, selected: Span | undefined) => ReactNode;
}

/** A click is not a selection. */
const SELECTION_PX_MIN = 6;
const STEPS_OF_KEYS: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -7, PageDown: 7 };

export function Stepper({ label, ends, describe, onSelect, className, children }: StepperProps) {
  const [at, setAt] = useState<number>();
  /** The step where a selection began. */
  const [anchor, setAnchor] = useState<number>();
  const pressedAt = useRef<number>(undefined);
  const count = ends.length;
  const selected = spanOf(anchor, at, count);
  const forget = (): void => {
    setAt(undefined);
    setAnchor(undefined);
    pressedAt.current = undefined;
  };

  const pointedAt = ({ currentTarget, clientX }: PointerEvent): number => {
    const { left, width } = currentTarget.getBoundingClientRect();
    return stepAt(ends, (clientX - left) / (width || 1));
  };
  const press = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    setAt(pointedAt(event));
    pressedAt.current = event.clientX;
    if (onSelect) event.currentTarget.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent): void => {
    const from = pressedAt.current;
    const isDragged = onSelect !== undefined && from !== undefined;
    if (isDragged && anchor === undefined && Math.abs(event.clientX - from) >= SELECTION_PX_MIN) setAnchor(at);
    setAt(pointedAt(event));
  };
  const release = (): void => {
    pressedAt.current = undefined;
    if (selected) onSelect?.(selected.first, selected.last);
    setAnchor(undefined);
  };

  const pressKey = (event: KeyboardEvent): void => {
    const next = stepOf(event.key, at ?? count - 1, count);
    if (event.key === 'Enter' && selected) release();
    else if (event.key === 'Escape' && at !== undefined) forget();
    else if (next !== undefined) {
      setAnchor(onSelect && event.shiftKey ? (anchor ?? at ?? next) : undefined);
      setAt(next);
    } else return;
    event.preventDefault();
  };

  const shown = Math.min(at ?? count - 1, count - 1);
  return (
    <div
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={1}
      aria-valuemax={Math.max(1, count)}
      aria-valuenow={shown + 1}
      aria-valuetext={selected ? `${describe(selected.first)} – ${describe(selected.last)}` : describe(shown)}
      className={`relative touch-pan-y select-none ${className}`}
      onPointerDown={press}
      onPointerMove={move}
      onPointerUp={release}
      onPointerCancel={forget}
      onPointerLeave={({ pointerType }) => pointerType === 'mouse' && forget()}
      onKeyDown={pressKey}
      onFocus={({ currentTarget }) => currentTarget.matches(':focus-visible') && setAt(at ?? count - 1)}
      onBlur={forget}
    >
      {children(at === undefined ? undefined : shown, selected)}
    </div>
  );
}

function spanOf(anchor: number | undefined, at: number | undefined, count: number): Span | undefined {
  if (anchor === undefined || at === undefined) return undefined;
  return { first: Math.min(anchor, at), last: Math.min(Math.max(anchor, at), count - 1) };
}

/** The step that a key leads to. */
function stepOf(key: string, from: number, count: number): number | undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  const by = STEPS_OF_KEYS[key];
  return by === undefined ? undefined : Math.min(count - 1, Math.max(0, from + by));
}
