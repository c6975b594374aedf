/** Numbers from 0 to 1, without 1, that are the same for each seed. */
export function createSeededDice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
