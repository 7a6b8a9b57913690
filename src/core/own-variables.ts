// The environment variables of ours that are no settings: places, ids and switches. The
// configuration knows these and warns about any other name that begins as ours do.

export const ownVariables = {
  /** The state directory. */
  home: 'UNTILDONE_HOME',
  /** Marks all beneath a session, so that an agent cannot approve itself. */
  session: 'UNTILDONE_SESSION',
  /**
   * Our plugins in hosts set it for the commands of an agent: the id of that agent's
   * session.
   */
  agentSession: 'UNTILDONE_AGENT_SESSION',
  /** Finds a command's processes in other groups too. */
  process: 'UNTILDONE_PROCESS',
  /**
   * pi passes it to the processes that its agent starts: `PID:SESSION`. A pi among them
   * is its subagent.
   */
  parent: 'UNTILDONE_PI',
  /**
   * What is to be told and how, for the program that tells it: other users cannot read an
   * environment.
   */
  notice: 'UNTILDONE_NOTICE',
  /** Asks for the stack of a failure. */
  debug: 'UNTILDONE_DEBUG',
  /** Switches of our own tests. */
  propertyRuns: 'UNTILDONE_PROPERTY_RUNS',
  mutation: 'UNTILDONE_MUTATION',
  mutationMarker: 'UNTILDONE_MUTATION_MARKER',
} as const;
