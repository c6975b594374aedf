/** Letters and digits of generated names, without those that make words or are mistaken for each other. */
const NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789";
const SUFFIX_LENGTH = 5;

/** The five characters that end a generated name; `random` is at least 0 and less than 1. */
export function randomNameSuffix(random: () => number): string {
  return Array.from({ length: SUFFIX_LENGTH }, () => NAME_ALPHABET[Math.floor(random() * NAME_ALPHABET.length)]).join(
    "",
  );
}
