/** What a type of the API is, and what each of its fields means: one plain sentence each, in our own words. */
interface TypeDescription {
  readonly is: string;
  readonly fields: Readonly<Record<string, string>>;
}

/** Descriptions by the type's name in the field tables. */
export type TypeDescriptions = Readonly<Record<string, TypeDescription>>;
