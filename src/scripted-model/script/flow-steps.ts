// How steps are put together: in order, repeated, on a condition. Each keeps its place in the position it was given
// and hands the rest of it to the step inside.
import { firstNamed, normalised } from '../todos/known-todos.ts';
import type { Situation } from './situation.ts';
import { type Move, numberAt, PASS, type Position, type Step } from './step.ts';

function anyNeedsTools(steps: readonly Step[]): boolean {
  return steps.some((step) => step.needsTools);
}

/** One after the other; a step that passes is skipped. */
export function inOrder(...steps: readonly Step[]): Step {
  return {
    needsTools: anyNeedsTools(steps),
    next(position, situation) {
      let inner: Position = position.slice(1);
      for (let index = numberAt(position, 0); index < steps.length; index += 1) {
        const move = steps[index]?.next(inner, situation) ?? PASS;
        inner = [];
        if (move.kind === 'pass') continue;
        if (move.position !== 'over') return { ...move, position: [index, ...move.position] };
        return { ...move, position: index + 1 < steps.length ? [index + 1] : 'over' };
      }
      return PASS;
    },
  };
}

export function repeat(times: number, ...steps: readonly Step[]): Step {
  const body = inOrder(...steps);
  return {
    needsTools: body.needsTools,
    next(position, situation) {
      const round = numberAt(position, 0);
      if (round >= times) return PASS;
      const move = body.next(position.slice(1), situation);
      if (move.kind === 'reply') {
        if (move.position !== 'over') return { ...move, position: [round, ...move.position] };
        return { ...move, position: round + 1 < times ? [round + 1] : 'over' };
      }
      // The rest of a round that was begun may pass; a whole round that passes would pass for ever.
      if (position.length <= 1 || round + 1 >= times) return PASS;
      return repeat(times, ...steps).next([round + 1], situation);
    },
  };
}

export function always(...steps: readonly Step[]): Step {
  return repeat(Number.POSITIVE_INFINITY, ...steps);
}

/** The first step that has something to say now; only that one is played to its end. */
export function firstOf(...steps: readonly Step[]): Step {
  return {
    needsTools: anyNeedsTools(steps),
    next(position, situation) {
      const chosen = position.length > 0 ? [numberAt(position, 0)] : steps.keys();
      for (const index of chosen) {
        const move = steps[index]?.next(position.slice(1), situation) ?? PASS;
        if (move.kind === 'pass') continue;
        return move.position === 'over' ? move : { ...move, position: [index, ...move.position] };
      }
      return PASS;
    },
  };
}

/** Played only if the condition holds when its turn comes; once begun, it is played to its end. */
export function when(condition: (situation: Situation) => boolean, ...steps: readonly Step[]): Step {
  const body = inOrder(...steps);
  return {
    needsTools: body.needsTools,
    next: (position, situation): Move =>
      position.length > 0 || condition(situation) ? body.next(position, situation) : PASS,
  };
}

/** The model had stopped and was spoken to again. */
export function whenContinued(...steps: readonly Step[]): Step {
  return when((situation) => situation.isContinued, ...steps);
}

/** What was said to the model since it last spoke names this todo, by its title or its id. */
export function whenNamed(title: string, ...steps: readonly Step[]): Step {
  return when(
    (situation) => {
      const named = firstNamed(situation.todos, situation.heard);
      return (
        normalised(situation.heard).includes(normalised(title)) ||
        (named !== undefined && normalised(named.title) === normalised(title))
      );
    },
    ...steps,
  );
}

/** A text or a pattern occurs in what was said to the model since it last spoke. */
export function whenTold(wanted: string | RegExp, ...steps: readonly Step[]): Step {
  const holds = (heard: string) => (typeof wanted === 'string' ? heard.includes(wanted) : wanted.test(heard));
  return when((situation) => holds(situation.heard), ...steps);
}

/** One of the tools that the model just called answered with an error. */
export function whenToolFailed(...steps: readonly Step[]): Step {
  return when((situation) => situation.results.some((result) => result.isError), ...steps);
}

/** The step for this very situation, chosen by a pure function; a step of one reply. */
export function react(choose: (situation: Situation) => Step | undefined): Step {
  return {
    needsTools: true,
    next: (position, situation) => choose(situation)?.next(position, situation) ?? PASS,
  };
}
