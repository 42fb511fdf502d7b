//! Barcodes on books and cards: reading digits, and telling a misread one by its check digit.

/// Why a scanned line is not a barcode of ours.
#[derive(Debug, PartialEq, Eq)]
pub enum BarcodeError {
    WrongLength(usize),
    NotADigit(char),
    CheckDigit { expected: u8, found: u8 },
}

/// A barcode that has passed its check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Barcode(String);

impl Barcode {
    /// Reads thirteen digits; the last one must follow from the others.
    pub fn parse(line: &str) -> Result<Self, BarcodeError> {
        let digits = line.trim();
        if digits.len() != 13 {
            return Err(BarcodeError::WrongLength(digits.len()));
        }
        if let Some(bad) = digits.chars().find(|c| !c.is_ascii_digit()) {
            return Err(BarcodeError::NotADigit(bad));
        }
        let expected = check_digit(&digits[..12]);
        let found = digits.as_bytes()[12] - b'0';
        if expected != found {
            return Err(BarcodeError::CheckDigit { expected, found });
        }
        Ok(Self(digits.to_owned()))
    }
}

/// The thirteenth digit: odd places count once, even places three times.
fn check_digit(twelve: &str) -> u8 {
    let sum: u32 = twelve
        .bytes()
        .enumerate()
        .map(|(place, digit)| u32::from(digit - b'0') * if place % 2 == 0 { 1 } else { 3 })
        .sum();
    ((10 - sum % 10) % 10) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_check_digit_is_told() {
        assert_eq!(
            Barcode::parse("9780306406158"),
            Err(BarcodeError::CheckDigit { expected: 7, found: 8 })
        );
    }
}
