//! What a filter needs of a JSON text ([`super::needs`]), from text to text.

use super::needs::Needs;
use crate::content::conform::{Known, NOWHERE, Reader};

/// The place of the objects that the text begins with.
const ROOT: u32 = 0;

/// The text without the members that are not needed, and with empty containers where nothing within is. Scalars stay, so
/// that every value on the way is of its kind. `None` where the text is no JSON or holds a lone surrogate.
pub(super) fn pruned(text: &[u8], needs: &Needs) -> Option<Vec<u8>> {
    let (json, known) = (Reader::new(text), Known::new(text, 1));
    let mut run = Run { text, json, known, out: Vec::with_capacity(text.len() / 4) };
    run.value(needs, ROOT)?;
    (run.json.is_at_end() && !run.json.saw_lone_surrogate()).then_some(run.out)
}

struct Run<'j> {
    text: &'j [u8],
    json: Reader<'j>,
    /// A place for each object that is needed in part, and for each member that is left out or taken whole.
    known: Known,
    out: Vec<u8>,
}

impl Run<'_> {
    fn value(&mut self, needs: &Needs, place: u32) -> Option<()> {
        match self.json.next() {
            b'{' if !needs.whole && needs.items.is_none() => self.object(needs, place),
            b'[' if !needs.whole => self.array(needs, place),
            _ => {
                let start = self.json.at();
                self.known.skip(&mut self.json, if needs.whole { place } else { NOWHERE })?;
                self.out.extend_from_slice(self.json.from(start));
                Some(())
            }
        }
    }

    fn object(&mut self, needs: &Needs, place: u32) -> Option<()> {
        self.out.push(b'{');
        let (mut more, mut at, mut empty) = (self.json.enter(b'}')?, 0, true);
        while more {
            let member = self.known.member(&mut self.json, place, &mut at, |name| needs.members.get_index_of(name))?;
            match needs.members.get_index(member.to as usize) {
                Some((_, below)) => {
                    if !std::mem::take(&mut empty) {
                        self.out.push(b',');
                    }
                    self.out.extend_from_slice(self.text.get(member.name.0..member.name.1)?);
                    self.value(below, member.below)?;
                }
                None => self.known.skip(&mut self.json, member.below)?,
            }
            more = self.json.more(b'}')?;
        }
        self.out.push(b'}');
        Some(())
    }

    fn array(&mut self, needs: &Needs, place: u32) -> Option<()> {
        self.out.push(b'[');
        let (mut more, mut empty) = (self.json.enter(b']')?, true);
        while more {
            match &needs.items {
                Some(items) => {
                    if !std::mem::take(&mut empty) {
                        self.out.push(b',');
                    }
                    self.value(items, place)?;
                }
                None => self.known.skip(&mut self.json, NOWHERE)?,
            }
            more = self.json.more(b']')?;
        }
        self.out.push(b']');
        Some(())
    }
}
