// `untildone/ai-sdk`: goes on within one call of the AI SDK 7, streamed or not, until the
// session lets the agent stop. In a stream a premature "done" is not shown. `ai` is the
// user's own; what it calls experimental may change with it.
import {
  experimental_createSteering as createSteering,
  type generateText,
  isLoopFinished,
  type StepResult,
  type streamText,
  ToolLoopAgent,
  type ToolSet,
} from 'ai';
import { UntildoneError } from '../../core/error.ts';
import { toTransform } from '../../guard/guard-transform.ts';
import { sessionGuard } from '../../guard/session-guard.ts';
import { assertSession, endOf, usageOf } from '../../session/reply.ts';
import type { Session } from '../../session/session.ts';

type Step = Pick<StepResult<ToolSet>, 'text' | 'finishReason' | 'toolCalls' | 'usage'>;
type Options = Pick<
  Parameters<typeof streamText>[0],
  | 'experimental_steering'
  | 'experimental_transform'
  | 'onStepEnd'
  | 'onStepFinish'
  | 'stopWhen'
>;
type CallLike = typeof generateText | typeof streamText;
/** Of a ToolLoopAgent, whatever its tools and options are. */
type AgentLike = { generate(given: never): unknown; stream(given: never): unknown };

/**
 * `untilDone(session, agent).stream({ prompt })`, and so for `generate`;
 * `untilDone(session, streamText)({ model, … })`, and so for `generateText`. The agent
 * has `session.tools`. What you set yourself stays in force. Without a `stopWhen` of
 * yours, only the limits of the session bound its steps.
 */
export function untilDone<Held extends AgentLike | CallLike>(
  session: Session,
  held: Held,
): Held {
  assertSession('untilDone', session);
  if (typeof held === 'function') {
    const call = held as (given: Options) => unknown;
    return ((given: Options) =>
      callHeld(session, call, given, given.stopWhen)) as unknown as Held;
  }
  if (!(held instanceof ToolLoopAgent))
    throw new UntildoneError(
      'usage',
      'untilDone: must be given a ToolLoopAgent, generateText or streamText; session.hold takes any other agent.',
    );
  // Its calls take no limit of steps, and without one of its own it would end after
  // twenty.
  const { stopWhen } = (held as unknown as { settings?: Options }).settings ?? {};
  return Object.create(held, {
    generate: {
      value: (given: Options) =>
        callHeld(session, (own) => held.generate(own as never), given, stopWhen),
    },
    stream: {
      value: (given: Options) =>
        callHeld(session, (own) => held.stream(own as never), given, stopWhen),
    },
  }) as Held;
}

/**
 * With ours behind or beside the program's own options. If the session fails, so does the
 * call: nobody held the agent.
 */
function callHeld(
  session: Session,
  call: (given: Options) => unknown,
  given: Options,
  stopWhen: Options['stopWhen'] = isLoopFinished(),
) {
  const {
    experimental_steering: steering = createSteering(),
    onStepEnd = given.onStepFinish,
  } = given;
  let isStreamed = false;
  let failure: { readonly cause: unknown } | null = null;
  const fail = (cause: unknown) => {
    failure ??= { cause };
  };

  function remind(reminder: string, heldText = '') {
    // The SDK has not seen what was held back, and a model that does not see what it said
    // says it again (I1). Steering delivers a message of any role, whatever its type
    // says.
    if (heldText !== '')
      void steering.steer({ role: 'assistant', content: heldText } as never);
    void steering.steer(reminder);
  }

  async function afterStep({
    text,
    finishReason,
    toolCalls,
    usage,
  }: Step): Promise<void> {
    const used = usageOf(usage);
    if (used !== null) await session.tell({ type: 'usage-reported', ...used });
    // In a stream the guard has asked already, before anything was shown.
    if (isStreamed || toolCalls.length > 0) return;
    const answer = await session.stop({ text, end: endOf(finishReason, text) });
    if (answer.text !== null) remind(answer.text);
  }

  const guard: ReturnType<typeof toTransform> = (...parts) => {
    isStreamed = true;
    return toTransform({ ...sessionGuard(session), remind, onFailure: fail })(...parts);
  };
  const orFail = () =>
    new TransformStream({
      transform(part, controller) {
        if (failure === null) controller.enqueue(part);
        else controller.error(failure.cause);
      },
    });
  const result = call({
    ...given,
    experimental_steering: steering,
    // Before theirs: what is held back reaches none of them.
    experimental_transform: [
      guard,
      orFail,
      ...[given.experimental_transform ?? []].flat(),
    ],
    async onStepEnd(step: Parameters<NonNullable<Options['onStepEnd']>>[0]) {
      // What is thrown here reaches nobody: the SDK goes on.
      await Promise.allSettled([
        afterStep(step).catch(fail),
        (async () => onStepEnd?.(step))(),
      ]);
    },
    stopWhen: [...[stopWhen].flat(), () => failure !== null],
  });
  // Only the results of `streamText` itself are no promise; a stream fails where it is
  // read.
  if (!(result instanceof Promise)) return result;
  return result.then((whole) => {
    if (failure !== null && !isStreamed) throw failure.cause;
    return whole;
  });
}
