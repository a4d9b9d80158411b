//! Opens what is compressed as if it were not. A compressed file that ends in the middle is read up to there.

use std::cell::Cell;
use std::io::{self, BufRead, BufReader, Read};
use std::rc::Rc;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// What the first bytes of a file tell about its container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Container {
    Plain,
    Gzip,
    Zstd,
    Zip,
    Database,
}

/// How many bytes [`Container::of`] wants to see.
pub(super) const MAGIC: usize = 16;

impl Container {
    pub(super) fn of(head: &[u8]) -> Self {
        match head {
            [0x1F, 0x8B, 8, ..] => Container::Gzip,
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Container::Zstd,
            [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Container::Zip,
            _ if head.starts_with(b"SQLite format 3\0") => Container::Database,
            _ => Container::Plain,
        }
    }
}

/// Whether a compressed stream turned out to be damaged.
#[derive(Debug, Default, Clone)]
pub(super) struct Damage(Rc<Cell<bool>>);

impl Damage {
    pub(super) fn is_met(&self) -> bool {
        self.0.get()
    }
}

/// What a compressed stream holds; the stream itself where it is not compressed.
pub(super) fn unpack<'r>(
    stream: impl Read + 'r,
    container: Container,
    damage: &Damage,
) -> Box<dyn Read + 'r> {
    match container {
        Container::Gzip => up_to_damage(MultiGzDecoder::new(BufReader::new(stream)), damage),
        Container::Zstd => up_to_damage(Frames::new(BufReader::new(stream)), damage),
        _ => Box::new(stream),
    }
}

/// A stream that ends where it is damaged.
pub(super) fn up_to_damage<'r>(stream: impl Read + 'r, damage: &Damage) -> Box<dyn Read + 'r> {
    Box::new(UpToDamage {
        stream,
        damage: damage.clone(),
    })
}

/// A decoder whose complaints end the stream.
struct UpToDamage<R> {
    stream: R,
    damage: Damage,
}

impl<R: Read> Read for UpToDamage<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
        if self.damage.is_met() {
            return Ok(0);
        }
        match self.stream.read(buffer) {
            Err(error)
                if matches!(
                    error.kind(),
                    InvalidData | InvalidInput | Other | UnexpectedEof
                ) =>
            {
                self.damage.0.set(true);
                Ok(0)
            }
            read => read,
        }
    }
}

/// All frames of a Zstandard stream; the decoder itself reads one.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    fn new(source: R) -> Self {
        Frames {
            source,
            decoder: FrameDecoder::new(),
            in_frame: false,
        }
    }

    /// Begins the next frame; false at the end of the stream.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.source.fill_buf()?.is_empty() {
            use FrameDecoderError::ReadFrameHeaderError as Header;
            match self.decoder.reset(&mut self.source) {
                Ok(()) => {
                    self.in_frame = true;
                    return Ok(true);
                }
                Err(Header(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let frame = self.source.by_ref().take(u64::from(length));
                    io::copy(&mut { frame }, &mut io::sink())?;
                }
                Err(error) => return Err(invalid(&error)),
            }
        }
        Ok(false)
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if !self.in_frame && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(|error| invalid(&error))?;
            }
            match self.decoder.read(buffer)? {
                0 => self.in_frame = false,
                count => return Ok(count),
            }
        }
    }
}

fn invalid(error: &FrameDecoderError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(bytes: &[u8]) -> (String, bool) {
        let damage = Damage::default();
        let mut text = String::new();
        unpack(bytes, Container::of(bytes), &damage)
            .read_to_string(&mut text)
            .expect("text");
        (text, damage.is_met())
    }

    #[test]
    fn every_member_and_every_frame_is_read_and_damage_is_told() {
        let gzip = |text: &str| {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(text.as_bytes()).expect("memory");
            encoder.finish().expect("memory")
        };
        let zstd = |text: &str| {
            let level = ruzstd::encoding::CompressionLevel::Fastest;
            ruzstd::encoding::compress_to_vec(text.as_bytes(), level)
        };
        let two = |pack: &dyn Fn(&str) -> Vec<u8>| [pack("one "), pack("two")].concat();
        assert_eq!(read(&two(&gzip)), ("one two".to_owned(), false));
        assert_eq!(read(&two(&zstd)), ("one two".to_owned(), false));
        let skippable = [
            b"\x50\x2a\x4d\x18\x03\x00\x00\x00xyz".as_slice(),
            &zstd("a"),
        ]
        .concat();
        let whole = [zstd("b"), skippable].concat();
        assert_eq!(read(&whole), ("ba".to_owned(), false));
        let cut = two(&zstd);
        assert!(read(&cut[..cut.len() - 2]).1);
        let cut = two(&gzip);
        let (text, damaged) = read(&cut[..cut.len() - 12]);
        assert!(text.starts_with("one ") && damaged);
    }
}
