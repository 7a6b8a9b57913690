// `untildone/ai-sdk`: goes on within one call of the AI SDK 7, streamed or not, until the
// session lets the agent stop. In a stream a premature "done" is not shown. `ai` is the
// user's own package; what it calls experimental may change with it.
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
/** A ToolLoopAgent with any tools and options. */
type AgentLike = {
  generate(callOptions: never): unknown;
  stream(callOptions: never): unknown;
};

/**
 * `untilDone(session, agent).stream({ prompt })`, and in the same way `generate`;
 * `untilDone(session, streamText)({ model, … })`, and in the same way `generateText`.
 * Give the agent `session.tools`. Options that you set stay in force. If you set no
 * `stopWhen`, only the limits of the session bound its steps.
 */
export function untilDone<Held extends AgentLike | CallLike>(
  session: Session,
  held: Held,
): Held {
  assertSession('untilDone', session);
  if (typeof held === 'function') {
    const call = held as (callOptions: Options) => unknown;
    return ((callOptions: Options) =>
      callHeld(session, call, callOptions, callOptions.stopWhen)) as unknown as Held;
  }
  if (!(held instanceof ToolLoopAgent))
    throw new UntildoneError(
      'usage',
      'untilDone: must be given a ToolLoopAgent, generateText or streamText; session.hold takes any other agent.',
    );
  // A call of the agent cannot change its limit of steps, and without one of its own it
  // would end after twenty steps.
  const { stopWhen } = (held as unknown as { settings?: Options }).settings ?? {};
  return Object.create(held, {
    generate: {
      value: (callOptions: Options) =>
        callHeld(
          session,
          (heldOptions) => held.generate(heldOptions as never),
          callOptions,
          stopWhen,
        ),
    },
    stream: {
      value: (callOptions: Options) =>
        callHeld(
          session,
          (heldOptions) => held.stream(heldOptions as never),
          callOptions,
          stopWhen,
        ),
    },
  }) as Held;
}

/**
 * Calls with our options behind or beside those of the program. If the session fails, the
 * call fails too, since nobody held the agent.
 */
function callHeld(
  session: Session,
  call: (callOptions: Options) => unknown,
  callOptions: Options,
  stopWhen: Options['stopWhen'] = isLoopFinished(),
) {
  const {
    experimental_steering: steering = createSteering(),
    onStepEnd = callOptions.onStepFinish,
  } = callOptions;
  let isStreamed = false;
  let failure: { readonly cause: unknown } | null = null;
  const fail = (cause: unknown) => {
    failure ??= { cause };
  };

  function remind(reminder: string, heldText = '') {
    // The SDK has not seen the text that was held back, and a model that does not see
    // what it said says it again (I1). Steering delivers a message of any role, whatever
    // its type says.
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
    // In a stream the guard has already asked, before anything was shown.
    if (isStreamed || toolCalls.length > 0) return;
    const answer = await session.stop({ text, end: endOf(finishReason, text) });
    if (answer.text !== null) remind(answer.text);
  }

  const guard: ReturnType<typeof toTransform> = (...parts) => {
    isStreamed = true;
    return toTransform({ ...sessionGuard(session), remind, onFailure: fail })(...parts);
  };
  const failStream = () =>
    new TransformStream({
      transform(part, controller) {
        if (failure === null) controller.enqueue(part);
        else controller.error(failure.cause);
      },
    });
  const result = call({
    ...callOptions,
    experimental_steering: steering,
    // Before the program's transforms: they never see what is held back.
    experimental_transform: [
      guard,
      failStream,
      ...[callOptions.experimental_transform ?? []].flat(),
    ],
    async onStepEnd(step: Parameters<NonNullable<Options['onStepEnd']>>[0]) {
      // An error that is thrown here is lost: the SDK goes on.
      await Promise.allSettled([
        afterStep(step).catch(fail),
        (async () => onStepEnd?.(step))(),
      ]);
    },
    stopWhen: [...[stopWhen].flat(), () => failure !== null],
  });
  // Only the result of `streamText` itself is no promise; a stream fails where it is
  // read.
  if (!(result instanceof Promise)) return result;
  return result.then((whole) => {
    if (failure !== null && !isStreamed) throw failure.cause;
    return whole;
  });
}
